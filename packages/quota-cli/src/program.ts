import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { check } from './check/command.ts'
import { CliError, EXIT, type ExitCode } from './cli-error.ts'
import { type Io, painted } from './io.ts'

/** Runs a command line, without the words before the command; resolves to how the process is to end. */
export async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  let ended: ExitCode = EXIT.ok
  const program = commands(io, (code) => {
    ended = code
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return ended
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (error instanceof CliError) {
      tell(error, io)
      return error.exitCode
    }
    throw error
  }
}

function tell({ message, mend }: CliError, io: Io): void {
  io.err(`${painted(io, 'red', 'quota-cli:')} ${message}\n`)
  if (mend !== undefined) io.err(`  ${mend}\n`)
}

const EXIT_CODES = `
Exit codes: 0 fine, 1 something is wrong with what was looked at, 2 wrong arguments or a file that cannot be read,
3 a server that does not answer, or is another than was said.`

function commands(io: Io, end: (code: ExitCode) => void): Command {
  const program = new Command('quota-cli')
    .description('Checks policies of @scoregw/quota, replays logs through them, and looks at live counters.')
    .version(manifest.version)
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError('(quota-cli --help tells more)')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err, getOutHelpWidth: () => io.width })

  program
    .command('check')
    .description('tell everything that is wrong in a policy, and limits that never count')
    .argument('<policy>', 'JSON as definePolicy() or simpleQuota() takes it, or a module that exports `policy`')
    .option('--strict', 'end with 1 for warnings, too')
    .option('--json', 'print JSON')
    .action(async (policy: string, options: object) => end(await check(policy, options, io)))

  return program
}
