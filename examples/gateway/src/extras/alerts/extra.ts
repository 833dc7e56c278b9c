import * as z from 'zod'
import type { Extra } from '../extra.ts'
import { Alerts } from './alerts.ts'
import { alertBody, alertDocument } from './bodies.ts'
import { alertRoutes } from './routes.ts'

/** How many alerts the overview shows. */
const SHOWN = 5

/** Alerts for administrators. They are stored once for all processes, and one process signs and sends them. */
export const alerts: Extra = {
  async begin({ db, clock, logger, audit, quota, adaptive: { factorStore }, config }) {
    const allowPrivate = config.webhookAllowPrivate
    const alerts = new Alerts({ db, clock, logger, audit, quota, factorStore, allowPrivate })
    await alerts.readLayers()
    return {
      routes: alertRoutes({ alerts, policy: quota.policy, clock, allowPrivate }),
      chores: alerts.chores,
      overview: {
        name: 'alerts',
        schema: z
          .array(alertDocument)
          .nullable()
          .describe('The last alerts of all processes; `null`: the database is unavailable.'),
        read: async () => (await alerts.book.page(undefined, SHOWN)).map(alertBody),
      },
      refuse: () => alerts.refuse(),
      close: () => alerts.close(),
    }
  },
}
