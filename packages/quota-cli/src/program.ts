import { Command, CommanderError, InvalidArgumentError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { check } from './check/command.ts'
import { CliError, EXIT, type ExitCode } from './cli-error.ts'
import { type DoctorOptions, doctor } from './doctor/command.ts'
import { type Io, painted } from './io.ts'
import { type SimulateOptions, simulateLogs } from './simulate/command.ts'
import { type TopOptions, topSubjects } from './top/command.ts'

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
3 a server that does not answer, or is another than was said, 130 interrupted.`

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

  simulateCommand(program, io, end)
  serverCommands(program, io, end)
  return program
}

function simulateCommand(program: Command, io: Io, end: (code: ExitCode) => void): void {
  program
    .command('simulate')
    .description('replay logs through a policy: who would have been refused, when, by which limit')
    .argument('<policy>', 'as of check')
    .argument('<logs...>', 'NDJSON or common log format, also by gzip (.gz); - is the standard input')
    .option('--against <policy>', 'compare with another policy')
    .option('--route <route>', 'which requests are which operation: "GET /v1/* = read"; - is not metered', collected)
    .option('--format <format>', 'ndjson or common (default: by the first line of each log)')
    .option('--time <field>', 'name of the field, dotted for one inside another (default: usual names)')
    .option('--subject <field>', 'the same of who asks; layer=field,layer=field for a key in each layer')
    .option('--operation <field>', 'the same of the operation')
    .option('--cost <field>', 'the same of the tokens')
    .option('--plan <field>', 'the same of the plan')
    .option('--method <field>', 'the same of the method')
    .option('--path <field>', 'the same of the path')
    .option('--status <field>', 'the same of the status')
    .option(
      '--refund-from <status>',
      'requests of this status or above got their tokens back, but for 429',
      wholeNumber,
    )
    .option('--time-zone <zone>', 'of times that do not say in which they are (default: UTC)')
    .option('--map <file>', 'the options from --route on as JSON, routes as a list')
    .option('--top <count>', 'how many subjects are named', wholeNumber, 10)
    .option('--max-lines <count>', 'how many lines are read, of all logs', wholeNumber, 10_000_000)
    .option('--refusals <file>', 'write every refusal, one line of JSON each')
    .option('--html <file>', 'write a page with charts')
    .option('--json', 'print JSON')
    .action(async (policy: string, logs: string[], { route, ...options }: SimulateOptions & { route?: string[] }) =>
      end(await simulateLogs(policy, logs, { ...options, routes: route }, io)),
    )
}

function serverCommands(program: Command, io: Io, end: (code: ExitCode) => void): void {
  program
    .command('top')
    .description('show what is used of limits, the hottest first; again and again on a terminal')
    .argument('<redis>', 'redis://host:6379; a password may be in REDIS_PASSWORD')
    .requiredOption('--policy <file>', 'the policy whose counters they are, as of check')
    .option('--prefix <prefix>', 'the beginning of every key', 'quota')
    .option('--timeout <seconds>', 'how long the server may take for an answer', wholeNumber, 4)
    .option('--metrics <url>', 'a page of metrics, for refusals')
    .option('--sample <count>', 'how many rows are looked at', wholeNumber, 10_000)
    .option('--top <count>', 'how many limits are named', wholeNumber, 15)
    .option('--interval <seconds>', 'between two looks', wholeNumber, 2)
    .option('--once', 'look once')
    .option('--json', 'look once, and print JSON')
    .action(async (url: string, options: TopOptions) => end(await topSubjects(url, options, io)))
  program
    .command('doctor')
    .description('examine a Redis or Valkey: version, eviction, persistence, clock, latency, keys')
    .argument('<redis>', 'redis://host:6379; a password may be in REDIS_PASSWORD')
    .option('--policy <file>', 'tell which keys are of this policy')
    .option('--prefix <prefix>', 'the beginning of every key', 'quota')
    .option('--timeout <seconds>', 'how long the server may take for an answer', wholeNumber, 4)
    .option('--json', 'print JSON')
    .action(async (url: string, options: DoctorOptions) => end(await doctor(url, options, io)))
}

function collected(value: string, values: readonly string[] = []): string[] {
  return [...values, value]
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (/^\d{1,12}$/.test(text) && value > 0) return value
  throw new InvalidArgumentError('Not a whole number above 0.')
}
