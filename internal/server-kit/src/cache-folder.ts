import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * The folder that caches costly files between runs. For root it is outside the home folder, which other users of
 * servers cannot read.
 */
export function cacheFolder(): string {
  const own = process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache')
  return join(process.env.XDG_CACHE_HOME ?? own, 'scoregw-test-servers')
}
