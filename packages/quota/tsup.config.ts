import type { Options } from 'tsup'
import base from '../../tsup.base.ts'

const config: Options = {
  ...(base as Options),
  entry: [
    'index',
    'store',
    'adaptive',
    'calendar',
    'internal',
    'http',
    'otel',
    'prometheus',
    'score-gateway',
    'top',
    'waiting',
  ].map((entry) => `src/${entry}.ts`),
  // One QuotaError for all entries, in CommonJS too.
  splitting: true,
}
export default config
