import { build } from 'esbuild'
import { expect, it } from 'vitest'

/** What a file of an application becomes as one bundle, and what of each source is in it. */
async function bundleOf(code: string): Promise<{ readonly text: string; readonly sources: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@scoregw/source'],
    external: ['express'],
  })
  const [output] = Object.values(metafile.outputs)
  const inputs = Object.entries(output?.inputs ?? {})
  const sources = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path)
  return { text: outputFiles[0]?.text ?? '', sources }
}

const ELSEWHERE = /score-gateway|luxon/
const WORDS = /beijing|shanghai|forum/i

it('the bundle of an app with one limit contains nothing of the score gateway', async () => {
  const neutral = await bundleOf(`
    import { createQuota } from '@scoregw/quota'
    import { quotaExceededBody } from '@scoregw/quota/http'
    import { quotaMiddleware } from '@scoregw/quota-express'
    export const quota = createQuota({ limits: { api: { by: 'user', limit: 3, per: '15m' } } })
    export const metered = quotaMiddleware({ quota, subject: (req) => req.ip })
    export { quotaExceededBody }
  `)
  expect(neutral.sources.filter((path) => ELSEWHERE.test(path))).toEqual([])
  expect(WORDS.exec(neutral.text)?.[0]).toBeUndefined()
  expect(neutral.sources.some((path) => path.endsWith('http/neutral/neutral-answers.ts'))).toBe(true)
})

it('the bundle of an app that imports the specification’s answers contains them', async () => {
  const gateway = await bundleOf(`export { scoreGatewayAnswers } from '@scoregw/quota/score-gateway'`)
  expect(gateway.sources.some((path) => ELSEWHERE.test(path))).toBe(true)
  expect(gateway.text).toMatch(WORDS)
})
