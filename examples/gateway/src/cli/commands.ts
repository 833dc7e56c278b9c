import { readFile, stat } from 'node:fs/promises'
import { COMMAND_LINE } from '../audit/audit.ts'
import type { ChartRepository } from '../charts/chart-repository.ts'
import { MusicDataError, parseMusicData } from '../charts/music-data.ts'
import { DEMO_LABEL, type Service, type ShownToken, type Tokens } from '../credentials/tokens.ts'
import type { Db } from '../db/schema.ts'
import { policyDefinition } from '../quota/names.ts'
import type { AdminUsers } from '../users/admin-users.ts'
import { nameSchema, type UserRepository, userIdSchema } from '../users/user-repository.ts'

/** Thrown for a command line that is incomplete or can't be executed. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
}

export const USAGE = `Usage:
  npm run gateway -- users create NAME [--admin]         creates a user and prints a token, once
  npm run gateway -- users list                          lists the users: id, role, name
  npm run gateway -- users role USER admin|player        gives a user a role
  npm run gateway -- tokens create USER [--label TEXT]   prints another token of a user, once
  npm run gateway -- tokens list USER                    lists a user's tokens: id, time, label
  npm run gateway -- tokens revoke ID                    revokes a token
  npm run gateway -- bots create NAME                    prints a token for a bot of score sync, once
  npm run gateway -- bots list                           lists the bots: id, time, name
  npm run gateway -- bots revoke ID                      revokes a bot's token
  npm run gateway -- chart-keys create NAME              prints a key of the chart preview, once
  npm run gateway -- chart-keys list                     lists the keys: id, time, name
  npm run gateway -- chart-keys revoke ID                revokes a key
  npm run gateway -- charts import FILE                  reads music data (JSON) into the table of charts
  npm run gateway -- policy export                       prints the policy (JSON), for other tools such as quota-cli
`

export interface Options {
  readonly admin?: boolean | undefined
  readonly label?: string | undefined
}

/** The dependencies of commands. */
export interface Tools {
  readonly db: Db
  readonly users: UserRepository
  readonly admin: AdminUsers
  readonly tokens: Tokens
  readonly charts: ChartRepository
  /** Reports progress, one line at a time. */
  progress(line: string): void
}

interface Command {
  /** How many words follow the command. */
  readonly words: number
  readonly options: readonly (keyof Options)[]
  /** @returns the text to print */
  run(tools: Tools, words: readonly string[], options: Options): Promise<string>
}

/** All commands by their two words. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['users create', { words: 1, options: ['admin'], run: createUser }],
  ['users list', { words: 0, options: [], run: listUsers }],
  ['users role', { words: 2, options: [], run: setRole }],
  ['tokens create', { words: 1, options: ['label'], run: createToken }],
  ['tokens list', { words: 1, options: [], run: listTokens }],
  ['tokens revoke', { words: 1, options: [], run: revokeToken }],
  ...credentialCommands('bots', 'sync'),
  ...credentialCommands('chart-keys', 'charts'),
  [
    'charts import',
    { words: 1, options: [], run: ({ charts, progress }, [file = '']) => importCharts(charts, file, progress) },
  ],
  ['policy export', { words: 0, options: [], run: exportPolicy }],
] satisfies (readonly [string, Command])[])

/** The three commands for credentials of a service without users. */
function credentialCommands(area: string, service: Service): [string, Command][] {
  const create: Command['run'] = async ({ tokens }, [name = '']) => {
    checkName(name, 'NAME')
    const { token } = await tokens.issue({ service }, name, COMMAND_LINE)
    return `${token}\n`
  }
  const list: Command['run'] = async ({ tokens }) => listed(await tokens.list({ service }))
  const revoke: Command['run'] = async ({ tokens }, [id = '']) => {
    await tokens.revoke(id, COMMAND_LINE, { service })
    return ''
  }
  return [
    [`${area} create`, { words: 1, options: [], run: create }],
    [`${area} list`, { words: 0, options: [], run: list }],
    [`${area} revoke`, { words: 1, options: [], run: revoke }],
  ]
}

async function listUsers({ db }: Tools): Promise<string> {
  const users = await db.selectFrom('users').select(['id', 'role', 'name']).orderBy('id').execute()
  return users.map(({ id, name, role }) => `${id}\t${role}\t${name}\n`).join('')
}

async function createUser({ admin, tokens }: Tools, [name = '']: readonly string[], options: Options): Promise<string> {
  const id = userIdSchema.safeParse(name)
  if (!id.success) throw new UsageError(`${name}: ${id.error.issues[0]?.message}`)
  const isNew = await admin.create({ id: name, name, role: options.admin ? 'admin' : 'player' }, COMMAND_LINE)
  if (!isNew) throw new UsageError(`There is a user ${name} already.`)
  const { token } = await tokens.issue({ userId: name }, 'command line', COMMAND_LINE)
  return `${token}\n`
}

/** Rejects unknown users, unlike the administrators' route, because a typed name may be misspelled. */
async function createToken(
  { users, tokens }: Tools,
  [user = '']: readonly string[],
  { label }: Options,
): Promise<string> {
  const text = label ?? 'command line'
  checkName(text, '--label')
  if ((await users.find(user)) === undefined) throw new UsageError(`There is no user ${user}.`)
  const { token } = await tokens.issue({ userId: user }, text, COMMAND_LINE)
  return `${token}\n`
}

async function listTokens({ users, tokens }: Tools, [user = '']: readonly string[]): Promise<string> {
  await users.require(user)
  return listed(await tokens.list({ userId: user }))
}

async function revokeToken({ tokens }: Tools, [id = '']: readonly string[]): Promise<string> {
  await tokens.revoke(id, COMMAND_LINE)
  return ''
}

/** Rejects unknown users, because a typed name may be misspelled. */
async function setRole({ users, admin }: Tools, [user = '', role = '']: readonly string[]): Promise<string> {
  if (role !== 'admin' && role !== 'player') throw new UsageError(`${role}: expected admin or player`)
  if ((await users.find(user)) === undefined) throw new UsageError(`There is no user ${user}.`)
  await admin.put(user, { role }, COMMAND_LINE)
  return ''
}

async function exportPolicy(): Promise<string> {
  return `${JSON.stringify(policyDefinition(), undefined, 2)}\n`
}

/** Rejects the demo's name, because those credentials are deleted with the demo. */
function checkName(name: string, what: string): void {
  if (nameSchema.safeParse(name).success && name !== DEMO_LABEL) return
  throw new UsageError(`${what}: expected 1 to 64 characters, no control character, and not "${DEMO_LABEL}"`)
}

function listed(tokens: readonly ShownToken[]): string {
  const lines = tokens.map(({ id, createdAt, label }) => `${id}\t${new Date(createdAt).toISOString()}\t${label}\n`)
  return lines.join('')
}

/** The largest file, in bytes. The complete public table has about three million. */
const MAX_FILE_BYTES = 64 * 1_048_576
/** The most faults listed one by one. */
const MAX_LISTED = 20

/**
 * Imports a file of music data into the table of charts, completely or not at all.
 *
 * @param progress called for each step
 * @throws {UsageError} if the file can't be read or has faults
 */
async function importCharts(charts: ChartRepository, file: string, progress: (line: string) => void): Promise<string> {
  progress(`reading ${file}`)
  const found = parsed(file, await textOf(file))
  await charts.replace(found, (done) => progress(`${done} of ${found.length} charts`))
  return `${found.length} charts imported\n`
}

async function textOf(file: string): Promise<string> {
  try {
    const { size } = await stat(file)
    if (size > MAX_FILE_BYTES) throw new UsageError(`${file}: larger than ${MAX_FILE_BYTES} bytes`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error })
  }
}

function parsed(file: string, text: string): ReturnType<typeof parseMusicData> {
  try {
    return parseMusicData(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file}: not valid JSON`, { cause: error })
    if (!(error instanceof MusicDataError)) throw error
    const listed = error.faults.slice(0, MAX_LISTED).map(({ path, msg }) => `  ${path}: ${msg}`)
    const more = error.faults.length > MAX_LISTED ? [`  and ${error.faults.length - MAX_LISTED} more`] : []
    const lines = [`${file}: nothing was imported, since it has faults:`, ...listed, ...more]
    throw new UsageError(lines.join('\n'), { cause: error })
  }
}
