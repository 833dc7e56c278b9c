import { createQuota } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'
import { NextResponse } from 'next/server'

const quota = createQuota({
  limits: { everything: { by: 'user', limit: 60, per: '1m' } },
})
const metered = quotaFetch({
  quota,
  subject: (request) => request.headers.get('x-user'),
  settle: 'charge-first',
})

export const proxy = metered(() => NextResponse.next())
export const config = { matcher: '/scores/:path*' }
