import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import {
  type RedisServer,
  redisTests,
  startRedis,
} from '@scoregw/redis-server'
import { slowTests } from '@scoregw/server-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const cwd = join(import.meta.dirname, '..')
/** As the package's scripts start a service. */
const args = (file: string) => [
  '--import=tsx',
  '--conditions=@scoregw/source',
  '--import=../../scripts/lua-as-text.mjs',
  file,
]

describe.runIf(redisTests && slowTests)(
  'several services with one policy file',
  () => {
    let redis: RedisServer
    let url: string
    let stop: () => Promise<unknown>
    const env = () => ({
      ...process.env,
      REDIS_URL: redis.url,
      PORT: '0',
    })

    beforeAll(async () => {
      redis = await startRedis()
      const api = spawn(process.execPath, args('src/api.ts'), {
        cwd,
        env: env(),
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      stop = async () => {
        api.kill()
        if (api.exitCode === null) await once(api, 'exit')
      }
      const [line] = (await once(
        createInterface(api.stdout),
        'line',
      )) as [string]
      url = line
    })
    afterAll(async () => {
      await stop()
      await redis.stop()
    })

    const read = async () =>
      (await fetch(url, { headers: { 'x-customer': 'acme' } })).status
    const work = async () =>
      (
        await promisify(execFile)(
          process.execPath,
          [...args('src/worker.ts'), 'acme'],
          { cwd, env: env() },
        )
      ).stdout

    it('the API and the worker charge the same counters, each the operations of its own', async () => {
      expect([await read(), await read()]).toEqual([200, 200])
      expect(await work()).toBe('rendered\n3 of 60 requests\n')
      expect(await read()).toBe(200)
      expect(await work()).toBe('rendered\n5 of 60 requests\n')
      expect(await work()).toBe('rendered\n6 of 60 requests\n')
      expect(await work()).toBe(
        'refused by renders\n6 of 60 requests\n',
      )
      expect(await read()).toBe(200)
    })
  },
)
