// Loaded into a gateway's process (`--import`). It replaces the meter with one that lets every request pass, since the
// gateway has no such option.
import { register } from 'node:module'

const METER = new URL('gateway-meter-that-passes.ts', import.meta.url).href

register(
  `data:text/javascript,${encodeURIComponent(`
    export function resolve(specifier, context, nextResolve) {
      return nextResolve(specifier.endsWith('/quota/meter.ts') ? ${JSON.stringify(METER)} : specifier, context)
    }
  `)}`,
)
