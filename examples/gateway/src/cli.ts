import { runCommand } from './cli/run-command.ts'

const progress = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

const { code, out, err } = await runCommand(process.argv.slice(2), process.env, progress)
process.stdout.write(out)
process.stderr.write(err)
process.exitCode = code
