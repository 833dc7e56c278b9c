/// <reference path="../lua.d.ts" />
import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { OwnClient } from '../client/client-types.ts'
import script from '../script/decide.lua'
import type { Batch, ScriptReply } from './batch.ts'
import type { Deadline } from './deadline.ts'
import { isUnknownScript, storeError } from './errors.ts'

const SHA = createHash('sha1').update(script).digest('hex')

/** Has the server carry out a batch, once. Nothing is sent after the deadline. */
export async function callScript(connection: OwnClient, batch: Batch, deadline: Deadline): Promise<ScriptReply> {
  if (!connection.usable) await Promise.race([connection.ready(), deadline.settled])
  if (deadline.isOver) throw storeError('not connected to Redis')
  const call = { args: batch.args(), deadline }
  try {
    return await callOn(connection.redis, { ...call, asking: false })
  } catch (error) {
    const asked = await Promise.race([connection.askedServer(error)?.catch(() => undefined), deadline.settled])
    if (asked === undefined || deadline.isOver) throw error
    return await callOn(asked, { ...call, asking: true })
  }
}

interface Call {
  readonly args: readonly string[]
  readonly deadline: Deadline
  /** Whether the server is asked for keys that are on their way to it. */
  readonly asking: boolean
}

async function callOn(redis: Redis, { args, deadline, asking }: Call): Promise<ScriptReply> {
  const evaluate = (command: 'EVAL' | 'EVALSHA', what: string): Promise<ScriptReply> => {
    // Counts for the one command that follows on the connection; where it fails, that fails as well.
    if (asking) redis.asking().catch(() => undefined)
    return redis.callBuffer(command, what, ...args) as unknown as Promise<ScriptReply>
  }
  try {
    return await evaluate('EVALSHA', SHA)
  } catch (error) {
    if (!isUnknownScript(error) || deadline.isOver) throw error
    return await evaluate('EVAL', script)
  }
}
