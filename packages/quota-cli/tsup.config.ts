import type { Options } from 'tsup'
import base from '../../tsup.base.ts'

/** A command and no library: nobody imports it. */
const config: Options = { ...(base as Options), entry: ['src/main.ts'], format: ['esm'], dts: false }
export default config
