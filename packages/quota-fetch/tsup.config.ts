import type { Options } from 'tsup'
import base from '../../tsup.base.ts'

const config: Options = {
  ...(base as Options),
  entry: ['src/index.ts', 'src/hono.ts', 'src/augment.ts'],
  platform: 'neutral',
  splitting: true,
}
export default config
