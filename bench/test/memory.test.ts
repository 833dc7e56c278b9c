import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runBench } from './run-bench.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-'))
})
afterAll(() => rm(folder, { recursive: true }))

test.runIf(process.env.QUOTA_TEST_DEEP === '1')(
  'the memory suite writes its report',
  { timeout: 300_000 },
  async () => {
    const file = join(folder, 'memory.json')
    const printed = await runBench('memory', '--quick', '--json', file)
    const report = JSON.parse(await readFile(file, 'utf8'))

    expect(report).toMatchObject({ suite: 'memory', commit: expect.any(String), machine: { node: process.version } })
    expect(report.results).toHaveLength(10)
    for (const result of report.results) {
      expect(result).toEqual({
        name: expect.any(String),
        perSecond: expect.any(Number),
        ratio: expect.any(Number),
        spread: [expect.any(Number), expect.any(Number)],
      })
      expect(printed).toContain(result.name)
    }
    expect(report.results[0].ratio).toBe(1)
    expect(report.ordinary).toHaveLength(10)
    expect(report.heap).toHaveLength(5)
    expect(report.growth).toHaveLength(2)
    for (const { bytesPerUser, keyBytes, besideKeyBytes } of report.heap) {
      // Four digits of each are written.
      expect(Math.abs(besideKeyBytes - (bytesPerUser - keyBytes))).toBeLessThan(2)
    }
    // Too short for figures, and so for goals.
    expect(report.targets).toEqual([])
  },
)

test('an unknown suite is rejected with the list of suites', async () => {
  await expect(runBench('nothing')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('memory') })
})
