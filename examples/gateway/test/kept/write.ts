// Writes the data of this version's gateway: npm run kept-data:gateway -- VERSION, in a clean checkout of that version.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dumpPostgres, dumpSqlite } from '@scoregw/kept-data'
import { startPostgres } from '@scoregw/postgres-server'
import Database from 'libsql'
import { startGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/log/logger.ts'
import { DATA, type Kept, KINDS, type Kind, keptConfig, play } from './history.ts'

const [version] = process.argv.slice(2)
if (version === undefined || !/^[\w.-]+$/.test(version)) {
  throw new Error('name the version that writes: a tag, or the first characters of a commit')
}
const folder = join(DATA, version)
mkdirSync(folder, { recursive: true })
const postgres = await startPostgres()
try {
  for (const kind of KINDS) {
    writeFileSync(join(folder, `${kind}.json`), `${JSON.stringify(await write(kind), null, 1)}\n`)
    console.log(`${kind}: written`)
  }
} finally {
  await postgres.stop()
}

async function write(kind: Kind): Promise<Kept> {
  const dataDir = mkdtempSync(join(tmpdir(), 'kept-data-'))
  try {
    const databaseUrl = kind === 'postgres' ? await postgres.createDatabase() : undefined
    const gateway = await startGateway(keptConfig(kind, dataDir, databaseUrl), createLogger('warn'))
    const played = await play(gateway.addresses.gateway).finally(() => gateway.stop())
    return { ...played, sql: databaseUrl === undefined ? dumpOf(dataDir) : await dumpPostgres(databaseUrl) }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function dumpOf(dataDir: string): string {
  const database = new Database(join(dataDir, 'gateway.sqlite'), { readonly: true })
  try {
    return dumpSqlite(database)
  } finally {
    database.close()
  }
}
