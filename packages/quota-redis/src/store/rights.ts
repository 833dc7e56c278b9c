import { type Connection, carryOut, type Reply } from '../connection/connection.ts'
import { lackOfRights, refusal } from '../connection/errors.ts'
import rights from '../lua/rights.lua'
import { type Script, scriptOf } from '../lua/script.ts'

const RIGHTS = scriptOf(rights)

/** Runs a script of one key on the server. */
export type RunScript = (script: Script, key: string) => Promise<Reply>

/**
 * Tries what calls need, and changes nothing.
 *
 * @throws {QuotaError} `store_error` that names what the server refuses
 */
export async function tryRights(prefix: string, run: RunScript): Promise<void> {
  const reply = await run(RIGHTS, `{${prefix}}:ready`).catch((error: unknown) => {
    throw refusal(error, 'Redis')
  })
  const words = (reply as readonly Buffer[]).map(String)
  const commands = words.filter((_, index) => index % 2 === 0)
  if (words[1] !== undefined) throw lackOfRights(commands, words[1])
}

/** Both ways of calls to run a script. */
export function scriptRunner(connection: Connection): RunScript {
  return async ({ text, sha }, key) => {
    await carryOut(connection, (server) => server.send('EVAL', text, 1, key))
    return carryOut(connection, (server) => server.send('EVALSHA', sha, 1, key))
  }
}
