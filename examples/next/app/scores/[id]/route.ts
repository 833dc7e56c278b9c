import { quotaFetch } from '@scoregw/quota-fetch'
import { quota } from '../../quota'

const metered = quotaFetch({
  quota,
  subject: (request) => request.headers.get('x-user'),
  standardHeaders: 'draft-10',
})

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
