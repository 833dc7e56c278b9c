// A module of an application that exports what it makes: its declarations need a public name for every type.
import { createQuota, definePolicy, memoryStore, money } from '@scoregw/quota'
import { neutralAnswers } from '@scoregw/quota/http'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { topSubjects } from '@scoregw/quota/top'
import { waitingQueue } from '@scoregw/quota/waiting'

export const usd = money('USD')
export const one = createQuota({ limits: { api: { by: 'user', limit: 100, per: '15m' } } })
export const standard = createQuota({ policy: scoreGatewayPolicy() })
export const policy = definePolicy({
  limits: {
    perMinute: { by: 'user', limit: 20, per: '1m' },
    tokens: { by: 'user', limit: 100_000, of: 'tokens', per: '1h' },
    budget: { by: 'team', limit: usd(100), of: usd, per: '30d' },
    service: { shared: 'service', limit: 900, per: '1m' },
  },
  operations: { chat: { cost: { tokens: 2_000, usd: usd(0.009) } }, look: {} },
})
export const quota = createQuota({ policy })
export const queue = waitingQueue(quota)
export const top = topSubjects({ quota: one })
export const answers = neutralAnswers()
export const store = memoryStore()

const subject = { user: 'ann', team: 'blue' }
export const consume = () => quota.consume({ subject, operation: 'chat' })
export const reserve = () => quota.reserve({ subject, operation: 'chat' })
export const reserveSync = () => quota.reserveSync({ subject, operation: 'chat' })
export const run = () => quota.run({ subject, operation: 'chat' }, async (reservation) => reservation.commit())
export const status = () => quota.status(subject)
export const limit = async () => (await quota.consume({ subject, operation: 'look' })).limits.perMinute
export const held = async () => (await quota.status(subject)).limits.tokens
export const settings = () => quota.settings.get()
export const current = () => quota.settings.current()
export const updated = () => quota.settings.update({ limits: { service: 2_000 } })
export const subjects = () => quota.subjects.get({ user: 'ann' })
export const holds = () => quota.holds.list(subject)
export const resumed = () => quota.resume('token')
export const inTransaction = () => quota.inTransaction({})
export const waited = () => queue.reserve({ subject, operation: 'chat' })
export const ofOne = () => one.consume({ subject: 'ann' })
export const ofStandard = () => standard.reserveSync({ subject: 'ann', operation: 'read' })
