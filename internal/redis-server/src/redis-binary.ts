import { findProgram, type Program } from '@scoregw/server-kit'

const HELP =
  'No Redis server for the tests: install redis-server or valkey-server, or name one in REDIS_SERVER_BIN. ' +
  'REDIS_TESTS=off leaves these tests out.'

/** Found programs, by the environment variable's value. */
const found = new Map<string | undefined, Promise<Program>>()

/**
 * Finds Redis: `REDIS_SERVER_BIN`, else a server on PATH, else Debian's package unpacked without root. Throws a clear
 * error if all fail.
 */
export function redisBinary(): Promise<Program> {
  const named = process.env.REDIS_SERVER_BIN
  const program =
    found.get(named) ??
    findProgram({
      variable: 'REDIS_SERVER_BIN',
      names: ['redis-server', 'valkey-server'],
      debianPackage: 'redis-server',
      packagedPath: 'usr/bin/redis-server',
      help: HELP,
    })
  found.set(named, program)
  return program
}
