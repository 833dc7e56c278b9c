import { useTexts } from '../../words/words.ts'

const en = {
  title: 'Refusals',
  about: 'Who was refused in the last 24 hours, by which limit, and why the last time.',
  nobody: 'No one was refused in the last 24 hours.',
  ofUser: 'Refused in the last 24 hours',
  notOfUser: 'This user wasn’t refused in the last 24 hours.',
  times: (count: string) => `${count} ×`,
  reason: (operation: string, requested: string, used: string, limit: string, at: string) =>
    `${operation} needed ${requested} tokens, and ${used} of ${limit} were used. Room again at ${at}.`,
  tooDear: (operation: string, requested: string, limit: string) =>
    `${operation} needed ${requested} tokens, more than the limit of ${limit}. Waiting doesn’t help.`,
}

const zh: typeof en = {
  title: '拒绝',
  about: '最近 24 小时谁被哪个限额拒绝，以及最后一次的原因。',
  nobody: '最近 24 小时没有人被拒绝。',
  ofUser: '最近 24 小时的拒绝',
  notOfUser: '此用户最近 24 小时未被拒绝。',
  times: (count) => `${count} 次`,
  reason: (operation, requested, used, limit, at) =>
    `${operation} 需要 ${requested} 点，而 ${limit} 点已用 ${used}。${at} 起又有余量。`,
  tooDear: (operation, requested, limit) => `${operation} 需要 ${requested} 点，超过限额 ${limit}，等待无济于事。`,
}

export function useRefusalWords(): typeof en {
  return useTexts({ en, 'zh-CN': zh })
}
