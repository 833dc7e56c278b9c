/// <reference path="../lua.d.ts" />
import { createHash } from 'node:crypto'
import type { OwnClient } from '../client/own-client.ts'
import script from '../script/decide.lua'
import type { Batch, ScriptReply } from './batch.ts'
import type { Deadline } from './deadline.ts'
import { isUnknownScript, storeError } from './errors.ts'

const SHA = createHash('sha1').update(script).digest('hex')

/** Has the server carry out a batch, once. Nothing is sent after the deadline. */
export async function callScript(connection: OwnClient, batch: Batch, deadline: Deadline): Promise<ScriptReply> {
  if (!connection.usable) await Promise.race([connection.ready(), deadline.settled])
  if (deadline.isOver) throw storeError('not connected to Redis')
  const args = batch.args()
  try {
    return await evaluate(connection, 'EVALSHA', SHA, args)
  } catch (error) {
    if (!isUnknownScript(error) || deadline.isOver) throw error
    return await evaluate(connection, 'EVAL', script, args)
  }
}

function evaluate(
  { redis }: OwnClient,
  command: 'EVAL' | 'EVALSHA',
  what: string,
  args: readonly string[],
): Promise<ScriptReply> {
  return redis.callBuffer(command, what, ...args) as unknown as Promise<ScriptReply>
}
