import { RECALLED } from '../../features/recall/lexical-recall.ts'

/** What the text of a skill begins with. It is the app's own, so it lowers no label. */
export const SKILL = `${RECALLED}, skill `
