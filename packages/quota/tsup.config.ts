import type { Options } from 'tsup'
import base from '../../tsup.base.ts'

const config: Options = {
  ...(base as Options),
  entry: ['src/index.ts', 'src/store.ts', 'src/adaptive.ts', 'src/options.ts', 'src/http.ts', 'src/prometheus.ts'],
  // One QuotaError for all entries, in CommonJS too.
  splitting: true,
}
export default config
