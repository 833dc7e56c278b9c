import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { textOf } from '../src/connection/connection.ts'
import { needsNewConnection, verdictOf, withoutCommand } from '../src/connection/errors.ts'

it('errors of a client with an Error of its own are judged and printed as others', () => {
  const reply = (message: string): Error =>
    runInNewContext('Object.assign(new Error(message), { name: "ReplyError", command: { args: ["secret"] } })', {
      message,
    })
  expect(verdictOf(reply('LOADING the data'))).toBe('not-yet')
  expect(verdictOf(reply('OOM'))).toBe('refused')
  expect(needsNewConnection(reply('READONLY a replica'))).toBe(true)
  expect(withoutCommand(reply('WRONGPASS'))).not.toHaveProperty('command')
})

it('texts in replies are read from bytes of another realm', () => {
  expect(textOf(runInNewContext('new Uint8Array([79, 75, 33]).subarray(0, 2)') as Buffer)).toBe('OK')
  expect(textOf(Buffer.from('PONG'))).toBe('PONG')
  expect(textOf(1)).toBeUndefined()
})
