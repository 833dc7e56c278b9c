import type { Options } from 'tsup'
import base from '../../tsup.base.ts'

/** For Workers, which load ES modules only. */
const config: Options = { ...(base as Options), format: ['esm'], platform: 'neutral', external: ['cloudflare:workers'] }
export default config
