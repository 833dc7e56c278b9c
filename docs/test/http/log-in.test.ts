import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { logInApp } from '../../code/log-in-app.ts'

/** The app of the page, whose check waits until it is let go. */
async function served() {
  let release = (): void => undefined
  let gate: Promise<void> = Promise.resolve()
  const checked: string[] = []
  const app = logInApp(async (account, password) => {
    checked.push(account)
    await gate
    if (password === 'crash') throw new Error('the check failed')
    return password === 'right'
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(async () => {
    release()
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  return {
    port,
    checked,
    close: () => {
      gate = new Promise((resolve) => {
        release = resolve
      })
    },
    open: () => release(),
    async logIn(account: string, password: string) {
      const body = JSON.stringify({ account, password })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`http://127.0.0.1:${port}/log-in`, { method: 'POST', headers, body })
      return answer.status
    },
  }
}

it('the log-in recipe admits the right password after four wrong ones and delays a sixth failure', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => void vi.restoreAllMocks())
  const { logIn } = await served()
  for (const _ of [1, 2, 3, 4]) expect(await logIn('ann', 'guess')).toBe(401)
  for (const _ of [1, 2, 3]) expect(await logIn('ann', 'right')).toBe(204)
  expect(await logIn(' ANN ', 'crash')).toBe(500)
  expect(await logIn('ann', 'right')).toBe(429)
  expect(await logIn('bob', 'right')).toBe(204)
})

it('the log-in recipe checks at most the limit of parallel guesses', async () => {
  const { logIn, checked, close, open } = await served()
  close()
  const guesses = Promise.all(Array.from({ length: 12 }, () => logIn('cleo', 'guess')))
  await vi.waitFor(() => expect(checked).toHaveLength(5), { timeout: 30_000 })
  open()
  const statuses = await guesses
  expect(statuses.filter((status) => status === 401)).toHaveLength(5)
  expect(statuses.filter((status) => status === 429)).toHaveLength(7)
})

it('the log-in recipe charges a guess whose client disconnects before the response', async () => {
  const { logIn, port, checked, close, open } = await served()
  close()
  for (let guess = 1; guess <= 5; guess++) {
    const socket = connect(port, '127.0.0.1')
    const body = JSON.stringify({ account: 'dan', password: 'guess' })
    socket.write(
      `POST /log-in HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await vi.waitFor(() => expect(checked).toHaveLength(guess), { timeout: 30_000 })
    socket.destroy()
    await once(socket, 'close')
  }
  open()
  expect(await logIn('dan', 'right')).toBe(429)
})

/** Sends a log-in from an address of its own on this machine; resolves to the status. */
async function logInFrom(localAddress: string, port: number, account: unknown): Promise<number | undefined> {
  const sent = request({ port, host: '127.0.0.1', localAddress, path: '/log-in', method: 'POST', agent: false })
  sent.setHeader('content-type', 'application/json').end(JSON.stringify({ account, password: 'guess' }))
  const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage]
  sent.destroy()
  return statusCode
}

it.each([
  ['an empty account', '127.0.0.2', '', 20],
  ['a blank account', '127.0.0.3', '   ', 20],
  ['an object instead of an account', '127.0.0.4', { $ne: null }, 20],
  ['an account of 3,000 letters', '127.0.0.5', 'x'.repeat(3_000), 5],
])('the log-in recipe answers 401 to %s, and charges the address', async (_, address, account, guesses) => {
  const { port } = await served()
  for (let guess = 0; guess < guesses; guess++) expect(await logInFrom(address, port, account)).toBe(401)
  expect(await logInFrom(address, port, account)).toBe(429)
})
