import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startWorker } from '@scoregw/server-kit'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

interface Wrangler {
  readonly main: string
  readonly compatibility_flags: readonly string[]
  readonly durable_objects: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] }
}

const folder = join(import.meta.dirname, '..')
const {
  main,
  compatibility_flags: flags,
  durable_objects: objects,
} = JSON.parse(readFileSync(join(folder, 'wrangler.jsonc'), 'utf8')) as Wrangler

it.runIf(process.env.RUNTIME_TESTS === 'on')('the Worker of wrangler.jsonc limits users and teams', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(folder, main)],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@scoregw/source', 'workerd'],
    external: ['node:*', 'cloudflare:workers'],
    logLevel: 'error',
  })
  const bindings = Object.fromEntries(objects.bindings.map(({ name, class_name: className }) => [name, className]))
  const worker = await startWorker({ script: outputFiles[0]!.text, flags, objects: bindings })
  try {
    const statuses: number[] = []
    for (const user of [...'aaaaaabbbb']) {
      const answer = await fetch(worker.url, { headers: { 'x-api-key': `blue.${user}` } })
      statuses.push(answer.status)
      await answer.body?.cancel()
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 200, 200, 200, 429])
    expect((await fetch(worker.url, { headers: { 'x-api-key': 'red.a' } })).status).toBe(200)
  } finally {
    await worker.stop()
  }
})
