import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { listen } from '../src/http/listener.ts'

const CONNECTIONS = 8
const MIB = 1_048_576
const HOUR_MS = 3_600_000
/** Far from what a busy machine needs: a connection that is closed as slow would never be read. */
const slow = { headMs: HOUR_MS, requestMs: HOUR_MS, checkMs: HOUR_MS, stallMs: HOUR_MS, lingerMs: HOUR_MS }

it('connections with early responses are drained one at a time until all are done', async () => {
  const sockets: Socket[] = []
  const listener = await listen(
    (req, res) => {
      sockets.push(req.socket)
      res.writeHead(413).end()
    },
    '127.0.0.1',
    0,
    { slow },
  )
  onTestFinished(() => listener.stop(0))
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${16 * MIB}\r\n\r\n`
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = connect(listener.port, '127.0.0.1')
      onTestFinished(() => void client.destroy())
      await once(client, 'connect')
      client.on('error', () => undefined).write(head)
      const [answer] = await once(client, 'data')
      expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /)
      return client
    }),
  )
  for (const client of clients) client.write(Buffer.alloc(16 * MIB))
  await turn()
  const sizes = (): number[] => sockets.map(({ bytesRead }) => bytesRead)
  let before = sizes()
  const grown = new Set<number>()
  let most = 0
  while (grown.size < CONNECTIONS) {
    await turn()
    expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([])
    const after = sizes()
    const now = after.flatMap((size, index) => (size > (before[index] as number) ? [index] : []))
    for (const index of now) grown.add(index)
    most = Math.max(most, now.length)
    before = after
  }
  expect(most).toBe(1)
})
