import { useTexts } from '../../words/words.ts'

const en = {
  forget: 'Forget it',
  title: 'Forget the wall?',
  about: (levels: string) =>
    `Do this when the service has changed, for example when it runs on more machines. The factor stays where it is, and rises freely while errors are low. If nothing has changed, expect errors at ${levels} again.`,
  forgotten: 'The wall is forgotten.',
}

const zh: typeof en = {
  forget: '清除',
  title: '清除“墙”？',
  about: (levels) =>
    `服务有变化时使用，例如增加了机器。系数保持不变，此后只要错误很少就会自由上升。若服务没有变化，升到 ${levels} 时错误可能再次出现。`,
  forgotten: '“墙”已清除。',
}

export function useResetWords(): typeof en {
  return useTexts({ en, 'zh-CN': zh })
}
