import { inspect, parseArgs } from 'node:util'
import { systemClock } from '@scoregw/quota'
import { loadConfig } from '../config/config.ts'
import { ConfigError } from '../config/config-error.ts'
import { openDatabase } from '../db/connect.ts'
import { newToken } from '../users/tokens.ts'
import { userIdSchema } from '../users/user.ts'
import { UserRepository } from '../users/user-repository.ts'

const USAGE = `Usage:
  npm run gateway -- users create NAME [--admin]   creates a user and prints a token, once
  npm run gateway -- users list                    lists the users: id, role, name
`

/** EX_USAGE and EX_CONFIG of sysexits.h. */
const EXIT_USAGE = 64
const EXIT_CONFIG = 78

/** The command line does not say what to do, or what it says cannot be done. */
class UsageError extends Error {
  override readonly name: string = 'UsageError'
}

export interface CommandResult {
  /** The exit code. */
  readonly code: number
  readonly out: string
  readonly err: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Runs a command on the database that the environment names. */
export async function runCommand(args: readonly string[], env: Environment): Promise<CommandResult> {
  try {
    return { code: 0, out: await work(args, env), err: '' }
  } catch (error) {
    if (error instanceof UsageError) return { code: EXIT_USAGE, out: '', err: `${error.message}\n` }
    if (error instanceof ConfigError) return { code: EXIT_CONFIG, out: '', err: `${error.message}\n` }
    return { code: 1, out: '', err: `${inspect(error)}\n` }
  }
}

async function work(args: readonly string[], env: Environment): Promise<string> {
  const { positionals, values } = parse(args)
  if (values.help) return USAGE
  const [area, verb, name, ...rest] = positionals
  if (area !== 'users' || rest.length > 0) throw new UsageError(USAGE)
  if (verb === 'list' && name === undefined && !values.admin) return withUsers(env, list)
  if (verb === 'create' && name !== undefined) return withUsers(env, (users) => create(users, name, values.admin))
  throw new UsageError(USAGE)
}

function parse(args: readonly string[]): { positionals: string[]; values: { admin: boolean; help: boolean } } {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { admin: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
    })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${USAGE}`, { cause: error })
  }
}

async function withUsers(env: Environment, use: (users: UserRepository) => Promise<string>): Promise<string> {
  const db = await openDatabase(loadConfig(env).dataDir)
  try {
    return await use(new UserRepository(db, systemClock))
  } finally {
    await db.destroy()
  }
}

async function list(users: UserRepository): Promise<string> {
  const lines = (await users.list()).map(({ id, name, role }) => `${id}\t${role}\t${name}\n`)
  return lines.join('')
}

async function create(users: UserRepository, name: string, isAdmin: boolean): Promise<string> {
  const id = userIdSchema.safeParse(name)
  if (!id.success) throw new UsageError(`${name}: ${id.error.issues[0]?.message}`)
  const isNew = await users.create({ id: id.data, name, role: isAdmin ? 'admin' : 'player' })
  if (!isNew) throw new UsageError(`There is a user ${name} already.`)
  const token = newToken()
  await users.addToken(id.data, token, 'command line')
  return `${token}\n`
}
