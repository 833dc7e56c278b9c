import { Command, CommanderError, InvalidArgumentError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { check } from './check/command.ts'
import { CliError, EXIT, type ExitCode } from './cli-error.ts'
import { type DoctorOptions, doctor } from './doctor/command.ts'
import { type Io, painted } from './io.ts'
import { type SimulateOptions, simulateLogs } from './simulate/command.ts'
import { type TopOptions, topSubjects } from './top/command.ts'

/** Runs a command line, given from the command's name on. Resolves to the process's exit code. */
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
      report(error, io)
      return error.exitCode
    }
    throw error
  }
}

function report({ message, remedy }: CliError, io: Io): void {
  io.err(`${painted(io, 'red', 'quota-cli:')} ${message}\n`)
  if (remedy !== undefined) io.err(`  ${remedy}\n`)
}

const EXIT_CODES = `
Exit codes: 0 fine, 1 problems were found, 2 wrong arguments or an unreadable file, 3 the server does not answer or is
not the expected one, 130 interrupted.`

function commands(io: Io, end: (code: ExitCode) => void): Command {
  const program = new Command('quota-cli')
    .description('Checks policies of @scoregw/quota, replays logs through them, and shows live counters.')
    .version(manifest.version)
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError('(see quota-cli --help)')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err, getOutHelpWidth: () => io.width })

  program
    .command('check')
    .description('report every fault of a policy, and limits that never count')
    .argument('<policy>', 'JSON as parsePolicy() reads it, or a module that exports `policy`')
    .option('--strict', 'exit with 1 on warnings, too')
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
    .argument('<policy>', 'the same as for check')
    .argument('<logs...>', 'NDJSON or common log format, also gzipped (.gz); - is the standard input')
    .option('--against <policy>', 'compare with another policy')
    .option('--route <route>', 'map requests to an operation: "GET /v1/* = read"; - is not metered', collected)
    .option('--format <format>', 'ndjson or common (default: detected from the first line of each log)')
    .option('--time <field>', 'the field of the time, dotted if nested (default: common names)')
    .option('--subject <field>', 'the field of the subject; layer=field,layer=field for a key in each layer')
    .option('--operation <field>', 'the field of the operation')
    .option('--cost <field>', 'the field of the cost; unit=field,unit=field for costs in several units')
    .option('--plan <field>', 'the field of the plan')
    .option('--method <field>', 'the field of the method')
    .option('--path <field>', 'the field of the path')
    .option('--status <field>', 'the field of the status')
    .option('--refund-from <status>', 'give tokens back for this status and above, except 429', wholeNumber)
    .option('--time-zone <zone>', 'the zone of times without one (default: UTC)')
    .option('--map <file>', 'the options from --route on as JSON, routes as a list')
    .option('--top <count>', 'how many subjects to list', wholeNumber, 10)
    .option('--max-lines <count>', 'how many lines to read, of all logs together', wholeNumber, 5_000_000)
    .option('--refusals <file>', 'write every refusal, one line of JSON each')
    .option('--html <file>', 'write a page with charts')
    .option('--json', 'print JSON')
    .action(async (policy: string, logs: string[], { route, ...options }: SimulateOptions & { route?: string[] }) =>
      end(await simulateLogs(logs, { ...options, policy, routes: route }, io)),
    )
}

function serverCommands(program: Command, io: Io, end: (code: ExitCode) => void): void {
  program
    .command('top')
    .description('show the use of limits, the hottest first; refreshed on a terminal')
    .argument('<redis>', 'redis://host:6379; a password may be in REDIS_PASSWORD')
    .requiredOption('--policy <file>', 'the policy of the counters, as for check')
    .option('--prefix <prefix>', 'the prefix of every key', 'quota')
    .option('--timeout <seconds>', 'how long the server may take for an answer', wholeNumber, 4)
    .option('--sample <count>', 'how many rows to read', wholeNumber, 10_000)
    .option('--top <count>', 'how many limits to list', wholeNumber, 15)
    .option('--interval <seconds>', 'between two readings', wholeNumber, 2)
    .option('--once', 'print once and exit')
    .option('--json', 'print JSON once and exit')
    .action(async (url: string, options: TopOptions) => end(await topSubjects(url, options, io)))
  program
    .command('doctor')
    .description(
      'examine a Redis or Valkey: version, eviction, persistence, clock, latency, keys; by HTTP: Lua, scripts',
    )
    .argument(
      '<redis>',
      'redis://host:6379, its password in REDIS_PASSWORD; or https://host, its token in UPSTASH_REDIS_REST_TOKEN',
    )
    .option('--policy <file>', 'report the rows and stored numbers of this policy')
    .option('--prefix <prefix>', 'the prefix of every key', 'quota')
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
