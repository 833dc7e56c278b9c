import { inspect, parseArgs } from 'node:util'
import { systemClock } from '@scoregw/quota/store'
import { AuditLog } from '../audit/audit.ts'
import { ChartRepository } from '../charts/chart-repository.ts'
import { loadConfig } from '../config/config.ts'
import { Tokens } from '../credentials/tokens.ts'
import { openDatabase } from '../db/connect.ts'
import { HttpError } from '../http/http-error.ts'
import { ConfigError, StartError } from '../start/start-error.ts'
import { AdminUsers } from '../users/admin-users.ts'
import { UserRepository } from '../users/user-repository.ts'
import { COMMANDS, type Options, type Tools, USAGE, UsageError } from './commands.ts'

/** EX_USAGE and EX_CONFIG of sysexits.h. */
const EXIT_USAGE = 64
const EXIT_CONFIG = 78

export interface CommandResult {
  /** The exit code. */
  readonly code: number
  readonly out: string
  readonly err: string
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Runs a command on the database that the environment names.
 *
 * @param progress called with a line for each step of a long command
 */
export async function runCommand(
  args: readonly string[],
  env: Environment,
  progress: (line: string) => void = () => undefined,
): Promise<CommandResult> {
  try {
    return { code: 0, out: await work(args, env, progress), err: '' }
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StartError) {
      return { code: EXIT_CONFIG, out: '', err: `${error.message}\n` }
    }
    if (error instanceof UsageError || error instanceof HttpError) {
      return { code: EXIT_USAGE, out: '', err: `${error.message}\n` }
    }
    return { code: 1, out: '', err: `${inspect(error)}\n` }
  }
}

async function work(args: readonly string[], env: Environment, progress: (line: string) => void): Promise<string> {
  const { positionals, values } = parse(args)
  const { help, ...options } = values
  if (help) return USAGE
  const [area, verb, ...words] = positionals
  const command = COMMANDS.get(`${area} ${verb}`)
  const given = (['admin', 'label'] as const).filter((option) => options[option] !== undefined)
  const isMeant = command?.words === words.length && given.every((each) => command.options.includes(each))
  if (command === undefined || !isMeant) throw new UsageError(USAGE)
  return withTools(env, progress, (tools) => command.run(tools, words, options))
}

function parse(args: readonly string[]): { positionals: string[]; values: Options & { help: boolean } } {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        admin: { type: 'boolean' },
        label: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${USAGE}`, { cause: error })
  }
}

async function withTools(
  env: Environment,
  progress: (line: string) => void,
  use: (tools: Tools) => Promise<string>,
): Promise<string> {
  const config = loadConfig(env)
  const db = await openDatabase({ databaseUrl: config.DATABASE_URL, dataDir: config.DATA_DIR })
  const clock = systemClock
  const audit = new AuditLog(db, clock)
  try {
    return await use({
      db,
      users: new UserRepository(db, clock),
      admin: new AdminUsers({ db, clock, audit }),
      tokens: new Tokens({ db, clock, audit }),
      charts: new ChartRepository(db),
      progress,
    })
  } finally {
    await db.destroy()
  }
}
