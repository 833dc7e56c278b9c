import { headers } from 'next/headers'
import { quota } from '../quota'

export default async function Usage() {
  const user = (await headers()).get('x-user')
  if (user === null) return <p>Sign in first.</p>
  const { reads } = (await quota.status(user)).limits
  return <p>{`${reads?.remaining} of ${reads?.limit} left`}</p>
}
