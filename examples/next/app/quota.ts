import { createQuota } from '@scoregw/quota'

const makeQuota = () =>
  createQuota({
    limits: {
      reads: { by: 'user', limit: 120, per: '1h', for: 'read' },
      writes: { by: 'user', limit: 60, per: '1h', for: 'write' },
    },
    operations: { read: {}, write: {} },
  })

declare global {
  var __quota: ReturnType<typeof makeQuota> | undefined
}

// Next.js loads a module once for pages and once for routes, and again
// after each edit. The engine stays the same.
globalThis.__quota ??= makeQuota()
export const quota = globalThis.__quota
