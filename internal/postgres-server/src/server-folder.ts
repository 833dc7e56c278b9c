import { mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 1024 ** 3

/**
 * Makes a temporary folder, in memory where that is large. A server has a thousand files, and some file systems become
 * slow when that many come and go. Files outlive a kill in memory as on a disk: only a restart of the machine differs.
 */
export async function makeServerFolder(): Promise<string> {
  return await mkdtemp(join((await hasRoom()) ? MEMORY : tmpdir(), 'scoregw-postgres-'))
}

async function hasRoom(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    // Not every machine has it.
    return false
  }
}
