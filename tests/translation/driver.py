"""The program under test: bin/translate, fed with many commands at once (translate.c says what they are)."""
import json
import subprocess

def translate(program, commands):
    """One answer a command, in their order. The program must end well: a sanitizer's finding ends it otherwise."""
    lines = "".join(json.dumps(command, ensure_ascii=False, separators=(",", ":")) + "\n" for command in commands)
    run = subprocess.run([program], input=lines.encode("utf-8", "surrogatepass"), stdout=subprocess.PIPE, check=False)
    answers = [json.loads(line) for line in run.stdout.split(b"\n") if line]
    if run.returncode != 0 or len(answers) != len(commands):
        at = len(answers)
        what = json.dumps(commands[at])[:3000] if at < len(commands) else "the end"
        raise SystemExit(f"translate ended with {run.returncode} at command {at} of {len(commands)}: {what}")
    return answers
