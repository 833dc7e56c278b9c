import { mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 1024 ** 3

/**
 * Creates a temporary folder, in memory if that is large enough. A server has a thousand files, and some file systems
 * slow down when so many are created and removed. Files in memory survive a kill as on a disk, but not a restart of the
 * machine.
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
