// app/quota.ts
import { createQuota } from '@scoregw/quota'

const makeQuota = () =>
  createQuota({
    limits: {
      reads: { by: 'user', limit: 120, per: '1h', for: 'read' },
      writes: { by: 'user', limit: 60, per: '1h', for: 'write' },
    },
    operations: { read: {}, write: {} },
  })
const process = globalThis as { quota?: ReturnType<typeof makeQuota> }

// Next.js loads a module once for pages and once for routes, and again
// after each edit. The engine stays the same.
process.quota ??= makeQuota()
export const quota = process.quota
