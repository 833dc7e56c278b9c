import {
  createQuota,
  defaultPolicy,
  quotaFetch,
} from '@scoregw/quota-fetch'

// In its own module: one engine for all routes of a process.
export const quota = createQuota({ policy: defaultPolicy() })
const metered = quotaFetch({
  quota,
  subject: (request) => request.headers.get('x-user'),
  standardHeaders: 'draft-10',
})

// app/scores/[id]/route.ts
export const GET = metered.operation('read')(
  async (
    _request: Request,
    context: { readonly params: Promise<{ readonly id: string }> },
  ) => {
    const { id } = await context.params
    return id === '42'
      ? Response.json({ id })
      : new Response(null, { status: 404 })
  },
)
