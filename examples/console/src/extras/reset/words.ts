import { useTexts } from '../../words/words.ts'

const en = {
  forget: 'Forget the wall',
  title: 'Forget the wall?',
  about: (levels: string) =>
    `Do this when the service has changed, for example when it runs on more machines. The factor stays where it is, then rises freely while errors are low. If nothing has changed, expect errors at ${levels} again.`,
  forgotten: 'Wall forgotten.',
}

const zh: typeof en = {
  forget: '清除“墙”',
  title: '清除“墙”？',
  about: (levels) =>
    `服务有变化时这样做，例如增加了机器。系数先保持不变，错误少时即可自由上升。服务没有变化的话，升到 ${levels} 时错误可能再次出现。`,
  forgotten: '“墙”已清除。',
}

export function useResetWords(): typeof en {
  return useTexts({ en, 'zh-CN': zh })
}
