import { chmodSync, closeSync, fchmodSync, openSync, statSync, writeSync } from 'node:fs'
import { codesOf } from './start-error.ts'

const OWN = 0o600

/** What SQLite keeps beside a database. It makes these files with the database's own mode. */
const BESIDE = ['-wal', '-shm', '-journal']

/**
 * Makes a file of the data folder readable and writable by its owner alone, with what SQLite keeps beside it, whatever the
 * umask; one that is not there is created. A file that is there is never opened: closing it would release the locks that
 * this process has on it.
 *
 * @param content of a file that is created
 * @returns the path
 */
export function ownFile(path: string, content = ''): string {
  create(path, content)
  for (const each of [path, ...BESIDE.map((suffix) => path + suffix)]) restrict(each)
  return path
}

function create(path: string, content: string): void {
  let file: number
  try {
    file = openSync(path, 'wx', OWN)
  } catch (error) {
    if (codesOf(error).includes('EEXIST')) return
    throw error
  }
  try {
    fchmodSync(file, OWN)
    writeSync(file, content)
  } finally {
    closeSync(file)
  }
}

function restrict(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isFile() !== true || (stat.mode & 0o777) === OWN) return
  try {
    chmodSync(path, OWN)
  } catch (error) {
    // Another process has just removed it.
    if (!codesOf(error).includes('ENOENT')) throw error
  }
}
