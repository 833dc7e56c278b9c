import type { Options } from 'tsup'
import base from '../../tsup.base.ts'

const config: Options = {
  ...(base as Options),
  platform: 'neutral',
}
export default config
