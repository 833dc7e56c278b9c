import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'

/** Starts the example as its `start` script does; resolves to its address. */
async function start(): Promise<string> {
  const folder = join(import.meta.dirname, '..')
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions=@scoregw/source', 'src/main.ts'], {
    cwd: folder,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const [address] = line.match(/http:\/\/localhost:\d+/) ?? []
  if (address === undefined) throw new Error(`no address in: ${line}`)
  return address
}

test('four notes fit in the hour, the fifth gets Retry-After, and a faulty one costs nothing', async () => {
  const address = await start()
  const add = (body: object) =>
    fetch(`${address}/notes`, {
      method: 'POST',
      headers: { 'X-User': 'u42', 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })

  expect((await add({})).status).toBe(422)
  for (let count = 1; count <= 4; count++) {
    const response = await add({ text: `note ${count}` })
    expect([response.status, await response.json()]).toEqual([201, { count }])
    expect(response.headers.get('ratelimit')).toContain(`"writes";r=${60 - 15 * count};`)
  }

  const refused = await add({ text: 'one too many' })
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await refused.json()).toMatchObject({
    error: 'quota_exceeded',
    quota: { name: 'writes', limit: 60, used: 60, requested: 15 },
  })

  const listed = await fetch(`${address}/notes`, { headers: { 'X-User': 'u42' } })
  expect(await listed.json()).toHaveLength(4)
  expect((await fetch(`${address}/notes`)).status).toBe(401)

  const status = await (await fetch(`${address}/quota`, { headers: { 'X-User': 'u42' } })).json()
  expect(status).toMatchObject({
    limits: { reads: { used: 1 }, writes: { used: 60, remaining: 0 }, service: { used: 61, limit: 3_000 } },
  })
})
