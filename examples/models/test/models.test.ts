import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { slowTests } from '@scoregw/server-kit'
import { expect, it } from 'vitest'

const run = promisify(execFile)

/** Runs an example as its reader does. */
async function outputOf(name: string): Promise<string[]> {
  const path = join(import.meta.dirname, '../src', `${name}.ts`)
  const { stdout } = await run(process.execPath, ['--conditions=@scoregw/source', '--import=tsx', path], {
    cwd: join(import.meta.dirname, '..'),
  })
  return stdout.trim().split('\n')
}

it.runIf(slowTests)('users of a model are charged in three units, and the third is refused', async () => {
  expect(await outputOf('ai-sdk')).toEqual([
    'Tea is ready.',
    'Tea is ready.',
    'Limit reached: 2,000 tokens per hour. Try again in 1 hour.',
    'perMinute: 2 of 10',
    'tokens: 1880 of 2000',
    'budget: 3616 of 50000',
  ])
})

it.runIf(slowTests)('the third call of a tool is refused with a text for its model', async () => {
  expect(await outputOf('mcp')).toEqual([
    'It rains in Oslo.',
    'It rains in Rome.',
    expect.stringMatching(
      /^Limit reached: 2 requests per hour\. Try again in 1 hour\. Do not call this tool again before /,
    ),
  ])
})

it.runIf(slowTests)('the client example paces itself under a limit', async () => {
  expect(await outputOf('client')).toEqual(['10 of 10 requests answered, 0 refused', 'took at least 3 seconds: true'])
})
