import { join } from 'node:path'
import Database from 'libsql'
import { dataDirFault, makeDataDir } from '../config/data-dir.ts'
import { ownFile } from '../config/own-file.ts'
import { codesOf, StartError } from '../config/start-error.ts'

/**
 * Keeps a data folder for this process as long as it lives, however it ends: the lock is the system's own, on a file that
 * nothing is ever written to. A write to the embedded database waits inside of SQLite while another process writes, and all
 * other requests with it.
 *
 * @returns lets the folder go
 * @throws {StartError} when another process has it, or it cannot be used
 */
export function lockDataDir(dataDir: string): () => void {
  makeDataDir(dataDir)
  let file: Database.Database | undefined
  try {
    file = new Database(ownFile(join(dataDir, 'gateway.lock')))
    file.pragma('busy_timeout = 0')
    file.exec('begin exclusive')
  } catch (error) {
    file?.close()
    throw isTaken(error) ? takenBy(dataDir, error) : dataDirFault(dataDir, error)
  }
  const locked = file
  return () => void locked.close()
}

function isTaken(error: unknown): boolean {
  return codesOf(error).some((code) => code.startsWith('SQLITE_BUSY'))
}

function takenBy(dataDir: string, error: unknown): StartError {
  const fault =
    'another gateway serves from it; stop that one, name another folder, let both use one DATABASE_URL, ' +
    'or set DATA_DIR_SHARED=true for both, if each may wait while the other writes'
  return new StartError(`DATA_DIR=${dataDir}`, fault, error)
}
