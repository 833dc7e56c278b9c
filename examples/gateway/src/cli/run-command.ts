import { inspect, parseArgs } from 'node:util'
import { systemClock } from '@scoregw/quota/store'
import { AuditLog, COMMAND_LINE } from '../audit/audit-log.ts'
import { ChartRepository } from '../charts/chart-repository.ts'
import { loadConfig } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { StartError } from '../config/start-error.ts'
import { openDatabase } from '../db/connect.ts'
import { HttpError } from '../http/http-error.ts'
import { AdminUsers } from '../users/admin-users.ts'
import { GatewayTokens } from '../users/gateway-tokens.ts'
import { DEMO_LABEL } from '../users/tokens.ts'
import { nameSchema, userIdSchema } from '../users/user.ts'
import { UserRepository } from '../users/user-repository.ts'
import { importCharts } from './import-charts.ts'
import { UsageError } from './usage-error.ts'

const USAGE = `Usage:
  npm run gateway -- users create NAME [--admin]         creates a user and prints a token, once
  npm run gateway -- users list                          lists the users: id, role, name
  npm run gateway -- tokens create USER [--label TEXT]   prints another token of a user, once
  npm run gateway -- tokens list USER                    lists a user's tokens: id, time, label
  npm run gateway -- tokens revoke ID                    makes a token nobody's
  npm run gateway -- charts import FILE                  reads music data (JSON) into the table of charts
`

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

interface Options {
  readonly admin?: boolean | undefined
  readonly label?: string | undefined
}

/** What commands work with. */
interface Tools {
  readonly users: UserRepository
  readonly admin: AdminUsers
  readonly tokens: GatewayTokens
  readonly charts: ChartRepository
  /** Tells what is under way, a line at a time. */
  progress(line: string): void
}

interface Command {
  /** Whether it is about something that the command line names. */
  readonly hasName: boolean
  readonly options: readonly (keyof Options)[]
  /** Answers what is printed. */
  run(tools: Tools, name: string, options: Options): Promise<string>
}

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['users create', { hasName: true, options: ['admin'], run: createUser }],
  ['users list', { hasName: false, options: [], run: listUsers }],
  ['tokens create', { hasName: true, options: ['label'], run: createToken }],
  ['tokens list', { hasName: true, options: [], run: listTokens }],
  ['tokens revoke', { hasName: true, options: [], run: revokeToken }],
  [
    'charts import',
    { hasName: true, options: [], run: ({ charts, progress }, file) => importCharts(charts, file, progress) },
  ],
])

/**
 * Runs a command on the database that the environment names.
 * @param progress hears, a line at a time, how a command that takes long gets on
 */
export async function runCommand(
  args: readonly string[],
  env: Environment,
  progress: (line: string) => void = () => undefined,
): Promise<CommandResult> {
  try {
    return { code: 0, out: await work(args, env, progress), err: '' }
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StartError)
      return { code: EXIT_CONFIG, out: '', err: `${error.message}\n` }
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
  const [area, verb, name, ...rest] = positionals
  const command = COMMANDS.get(`${area} ${verb}`)
  const given = (['admin', 'label'] as const).filter((option) => options[option] !== undefined)
  const isMeant = command?.hasName === (name !== undefined) && given.every((each) => command.options.includes(each))
  if (command === undefined || !isMeant || rest.length > 0) throw new UsageError(USAGE)
  return withTools(env, progress, (tools) => command.run(tools, name ?? '', options))
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
  const db = await openDatabase(loadConfig(env))
  const clock = systemClock
  const audit = new AuditLog(db, clock)
  try {
    return await use({
      users: new UserRepository(db, clock),
      admin: new AdminUsers({ db, clock, audit }),
      tokens: new GatewayTokens(db, clock, audit),
      charts: new ChartRepository(db),
      progress,
    })
  } finally {
    await db.destroy()
  }
}

async function listUsers({ users }: Tools): Promise<string> {
  return (await users.list()).map(({ id, name, role }) => `${id}\t${role}\t${name}\n`).join('')
}

async function createUser({ admin, tokens }: Tools, name: string, options: Options): Promise<string> {
  const id = userIdSchema.safeParse(name)
  if (!id.success) throw new UsageError(`${name}: ${id.error.issues[0]?.message}`)
  const isNew = await admin.create({ id: name, name, role: options.admin ? 'admin' : 'player' }, COMMAND_LINE)
  if (!isNew) throw new UsageError(`There is a user ${name} already.`)
  const { token } = await tokens.issue(name, 'command line', COMMAND_LINE)
  return `${token}\n`
}

/** Not for unknown users, unlike an administrator's request: a name that is typed may be mistyped. */
async function createToken({ users, tokens }: Tools, user: string, { label }: Options): Promise<string> {
  const text = label ?? 'command line'
  if (!nameSchema.safeParse(text).success || text === DEMO_LABEL) {
    throw new UsageError(`--label: expected 1 to 64 characters, no control character, and not "${DEMO_LABEL}"`)
  }
  if ((await users.find(user)) === undefined) throw new UsageError(`There is no user ${user}.`)
  const { token } = await tokens.issue(user, text, COMMAND_LINE)
  return `${token}\n`
}

async function listTokens({ tokens }: Tools, user: string): Promise<string> {
  const lines = (await tokens.list(user)).map(({ id, label, createdAt }) => {
    return `${id}\t${new Date(createdAt).toISOString()}\t${label}\n`
  })
  return lines.join('')
}

async function revokeToken({ tokens }: Tools, id: string): Promise<string> {
  if (!(await tokens.revoke(id, COMMAND_LINE))) throw new UsageError(`There is no token ${id}.`)
  return ''
}
