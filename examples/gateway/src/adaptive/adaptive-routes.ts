import type { Clock, Quota } from '@scoregw/quota'
import { readAdaptiveCounts } from '@scoregw/quota/adaptive'
import type * as z from 'zod'
import { type Route, route } from '../http/route.ts'
import type { OperationName } from '../quota/policy.ts'
import type { AdaptiveMode } from './adaptive-mode.ts'
import { adaptiveBody, adaptiveDocument } from './documents.ts'

const MINUTE_MS = 60_000

interface AdaptiveOptions extends Pick<AdaptiveMode, 'factorStore' | 'outcomes' | 'recorder'> {
  readonly quota: Quota<OperationName>
  readonly clock: Clock
}

/** Routes for the factor of mode `adaptive` and its reason. */
export function adaptiveRoutes(options: AdaptiveOptions): Route[] {
  return [
    route({
      method: 'get',
      path: '/admin/quota/adaptive',
      docs: {
        id: 'adaptiveFactor',
        tag: 'Administration',
        summary: 'The factor of mode adaptive, and the reason for its value',
        description: 'It follows the server errors of the last 30 minutes, between 0.75 and 1.5.',
      },
      access: 'admin',
      answer: adaptiveDocument,
      async handle() {
        return { body: await factorNow(options) }
      },
    }),
  ]
}

/** Returns the factor, including the requests that this process has just counted. */
async function factorNow({
  quota,
  factorStore,
  outcomes,
  recorder,
  clock,
}: AdaptiveOptions): Promise<z.input<typeof adaptiveDocument>> {
  await recorder.flush()
  const [{ mode }, stored] = await Promise.all([quota.settings.get(), factorStore.read()])
  const minute = Math.floor(clock.now() / MINUTE_MS)
  return adaptiveBody(mode, stored, await readAdaptiveCounts(outcomes, minute), minute * MINUTE_MS)
}
