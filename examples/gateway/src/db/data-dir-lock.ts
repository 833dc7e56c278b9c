import { join } from 'node:path'
import Database from 'libsql'
import { dataDirFault, makeDataDir, ownFile } from '../start/data-dir.ts'
import { codesOf, StartError } from '../start/start-error.ts'

/** How long a process with `DATA_DIR_SHARED` waits for one that is about to be refused, in milliseconds. */
const SHARED_WAIT_MS = 1_000

/**
 * Locks a data folder for the lifetime of this process, exclusively or shared with others. The operating system's lock
 * ends with the process, however it ends. It is on a file that is never written.
 *
 * @returns a function that releases the folder
 * @throws {StartError} if the locks of other processes exclude this one, or the folder cannot be used
 */
export function lockDataDir(dataDir: string, isShared: boolean): () => void {
  makeDataDir(dataDir)
  try {
    const file = locked(dataDir, isShared)
    return () => void file.close()
  } catch (error) {
    if (!isTaken(error)) throw dataDirFault(dataDir, error)
    throw takenBy(dataDir, isShared ? SERVED_ALONE : servedBy(dataDir), error)
  }
}

/** @returns the connection that holds the lock until it is closed */
function locked(dataDir: string, isShared: boolean): Database.Database {
  const file = new Database(ownFile(join(dataDir, 'gateway.lock')))
  try {
    file.pragma(`busy_timeout = ${isShared ? SHARED_WAIT_MS : 0}`)
    file.exec(isShared ? 'begin' : 'begin exclusive')
    // A transaction that has read keeps a shared lock until it ends.
    if (isShared) file.prepare('select count(*) from sqlite_master').get()
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

function isTaken(error: unknown): boolean {
  return codesOf(error).some((code) => code.startsWith('SQLITE_BUSY'))
}

function takenBy(dataDir: string, fault: string, error: unknown): StartError {
  return new StartError(`DATA_DIR=${dataDir}`, fault, error)
}

const SERVED_ALONE =
  'another gateway serves from it alone; stop that one, name another folder, let both use one DATABASE_URL, ' +
  'or start that one with DATA_DIR_SHARED=true as well, if each may wait while the other writes'

/** Why the exclusive lock failed: whether the processes that hold the folder share it. */
function servedBy(dataDir: string): string {
  try {
    locked(dataDir, true).close()
  } catch {
    return (
      'another gateway serves from it; stop that one, name another folder, let both use one DATABASE_URL, ' +
      'or set DATA_DIR_SHARED=true for both, if each may wait while the other writes'
    )
  }
  return (
    'gateways with DATA_DIR_SHARED=true serve from it; set DATA_DIR_SHARED=true for this one as well, stop them, ' +
    'or name another folder'
  )
}
