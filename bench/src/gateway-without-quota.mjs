// Loaded into a gateway's process (`--import`): its meter becomes one that lets every request pass. The gateway itself has
// no such option, and is not changed.
import { register } from 'node:module'

const METER = new URL('gateway-meter-that-passes.ts', import.meta.url).href

register(
  `data:text/javascript,${encodeURIComponent(`
    export function resolve(specifier, context, nextResolve) {
      return nextResolve(specifier.endsWith('/quota/meter.ts') ? ${JSON.stringify(METER)} : specifier, context)
    }
  `)}`,
)
