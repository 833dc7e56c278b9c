import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  mkdirSync,
  openSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codesOf, StartError } from './start-error.ts'

/**
 * Makes the data folder unless it exists.
 *
 * @throws {StartError} if it can't be made or written to
 */
export function makeDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir)
    accessSync(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw dataDirFault(dataDir, error)
  }
}

/** Makes a folder and its parents. Node's recursive `mkdir` never returns in folders such as `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory()) return
  const parent = dirname(path)
  if (!existsSync(parent)) makeFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it in the meantime.
    if (!codesOf(error).includes('EEXIST') || !statSync(path).isDirectory()) throw error
  }
}

/** Returns a warning if other users of the machine can read the folder. */
export function openToOthers(dataDir: string): string | undefined {
  const { mode } = statSync(dataDir)
  // Windows has no such modes.
  if (process.platform === 'win32' || (mode & 0o007) === 0) return undefined
  const text = (mode & 0o777).toString(8)
  return `DATA_DIR=${dataDir}: other users of this machine can read this folder (mode ${text}); restrict it: chmod 700 ${dataDir}`
}

/** Describes an error of the data folder. Returns unrelated errors unchanged. */
export function dataDirFault(dataDir: string, error: unknown): unknown {
  if (error instanceof StartError) return error
  const said = `DATA_DIR=${dataDir}`
  const fault = (text: string): StartError => new StartError(said, text, error)
  const codes = codesOf(error)
  const is = (...some: string[]): boolean => codes.some((code) => some.some((each) => code.startsWith(each)))
  if (is('EEXIST', 'ENOTDIR')) return fault('is a file, or inside of one; name a folder')
  // If a file can't be opened, the driver's error has no code.
  const isClosed = error instanceof Error && /unable to open/i.test(error.message)
  if (isClosed || is('EACCES', 'EPERM', 'EROFS', 'SQLITE_READONLY', 'SQLITE_CANTOPEN')) {
    return fault('cannot be written to by this user; name another folder, or give the user the right')
  }
  if (is('ENOENT')) return fault('cannot be made; name another folder')
  if (is('ENOSPC', 'SQLITE_FULL')) return fault('is on a disk that is full; make room, or name another folder')
  if (is('SQLITE_NOTADB', 'SQLITE_CORRUPT')) {
    return fault('gateway.sqlite in it is no database, or a damaged one; put a backup in its place, or move it away')
  }
  return error
}

const OWN = 0o600

/** Files that SQLite keeps next to a database, with the database's mode. */
const BESIDE = ['-wal', '-shm', '-journal']

/**
 * Makes a file of the data folder readable and writable only by its owner, with what SQLite keeps beside it, regardless of the
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
