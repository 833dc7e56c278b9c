import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * The folder that caches costly files between runs. Root's is outside its home, which is closed to the other users that
 * root starts servers as.
 */
export function cacheFolder(): string {
  const own = process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache')
  return join(process.env.XDG_CACHE_HOME ?? own, 'scoregw-test-servers')
}
