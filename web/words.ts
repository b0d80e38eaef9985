/** The words of the page around the chat, which has words of its own. */
export interface Words {
  /** What this is, in one sentence. */
  readonly firstText: string
  /** Understood by the demo model, as the next two are. */
  readonly starterPlan: string
  readonly starterRemember: string
  readonly starterFind: string
  readonly starterLine: string
  readonly inspector: string
  readonly closeInspector: string
  readonly install: string
  readonly keep: string
  readonly kept: string
  readonly notKept: string
  readonly update: string
  readonly reload: string
  readonly offlineReady: string
  readonly dismiss: string
  readonly signOut: string
  readonly signOutAsk: string
  /** What goes from this browser. */
  readonly goesHere: string
  /** Of a guest, whom nobody can be again. */
  readonly goesThere: (date: string) => string
  readonly staysThere: string
  /** Before what would be lost. */
  readonly lost: string
  readonly unsent: (count: string) => string
  readonly refused: (count: string) => string
  readonly drafts: (count: string) => string
  readonly stay: string
  /** While it takes long. */
  readonly wait: string
  readonly notSignedOut: string
}

const english: Words = {
  firstText:
    'An assistant whose memory never loads past the line: what its model reads stays small however long you talk, and you can see where each part comes from.',
  starterPlan: 'Plan a weekend in Turin.',
  starterRemember: 'Remember that I prefer window seats.',
  starterFind: 'What do you remember about my seat?',
  starterLine: 'Show me the line at work',
  inspector: 'Inspector',
  closeInspector: 'Close the inspector',
  install: 'Install',
  keep: 'Keep when the disk is full',
  kept: 'The browser keeps this conversation until you delete it.',
  notKept: 'The browser does not promise to keep it: it may delete it when the disk is full.',
  update: 'A new version is ready.',
  reload: 'Reload',
  offlineReady: 'Ready to work offline.',
  dismiss: 'Close',
  signOut: 'Sign out',
  signOutAsk: 'Sign out of this browser?',
  goesHere:
    'All that this browser keeps of you is erased: conversations, and what is remembered. What is on this device alone is gone for good.',
  goesThere: (date) =>
    `You are a guest: the service erases what it keeps of you, too. If it cannot be reached now, it does so on ${date}; until then nobody can open it again.`,
  staysThere: 'What is at the service stays there, and anyone who may use it finds it there.',
  lost: 'This would be lost:',
  unsent: (count) => `Messages and changes that were not sent: ${count}`,
  refused: (count) => `Messages and changes that the service refused: ${count}`,
  drafts: (count) => `Drafts, text or files: ${count}`,
  stay: 'Cancel',
  wait: 'One moment …',
  notSignedOut: 'Not all is gone from this browser. Sign out again.',
}

const catalogue: Readonly<Record<string, Words>> = {
  en: english,
  de: {
    firstText:
      'Ein Assistent, dessen Gedächtnis nie über die Linie lädt: Was sein Modell liest, bleibt klein, so lange Sie auch sprechen, und Sie sehen, woher jeder Teil kommt.',
    starterPlan: 'Plane ein Wochenende in Turin.',
    starterRemember: 'Merk dir, dass ich gern am Fenster sitze.',
    starterFind: 'Was weißt du über meinen Sitzplatz am Fenster?',
    starterLine: 'Zeig mir die Linie bei der Arbeit',
    inspector: 'Inspektor',
    closeInspector: 'Inspektor schließen',
    install: 'Installieren',
    keep: 'Bei voller Festplatte behalten',
    kept: 'Der Browser behält diese Unterhaltung, bis Sie sie löschen.',
    notKept: 'Der Browser sagt nicht zu, sie zu behalten: Bei voller Festplatte kann er sie löschen.',
    update: 'Eine neue Version ist bereit.',
    reload: 'Neu laden',
    offlineReady: 'Bereit für die Arbeit ohne Netz.',
    dismiss: 'Schließen',
    signOut: 'Abmelden',
    signOutAsk: 'Von diesem Browser abmelden?',
    goesHere:
      'Alles, was dieser Browser von Ihnen behält, wird gelöscht: Unterhaltungen und was gemerkt ist. Was nur auf diesem Gerät ist, ist dann für immer weg.',
    goesThere: (date) =>
      `Sie sind Gast: Auch der Dienst löscht, was er von Ihnen behält. Ist er jetzt nicht erreichbar, tut er es am ${date}; bis dahin kann es niemand mehr öffnen.`,
    staysThere: 'Was beim Dienst ist, bleibt dort, und wer ihn nutzen darf, findet es dort.',
    lost: 'Das ginge verloren:',
    unsent: (count) => `Nicht gesendete Nachrichten und Änderungen: ${count}`,
    refused: (count) => `Vom Dienst abgelehnte Nachrichten und Änderungen: ${count}`,
    drafts: (count) => `Entwürfe, Text oder Dateien: ${count}`,
    stay: 'Abbrechen',
    wait: 'Einen Moment …',
    notSignedOut: 'Noch ist nicht alles aus diesem Browser weg. Melden Sie sich noch einmal ab.',
  },
  fr: {
    firstText:
      'Un assistant dont la mémoire ne charge jamais au-delà de la ligne : ce que lit son modèle reste petit, aussi longue que soit la conversation, et vous voyez d’où vient chaque partie.',
    starterPlan: 'Planifie un week-end à Turin.',
    starterRemember: 'Retiens que je préfère une place côté fenêtre.',
    starterFind: 'Que sais-tu de ma place côté fenêtre ?',
    starterLine: 'Montrez-moi la ligne au travail',
    inspector: 'Inspecteur',
    closeInspector: 'Fermer l’inspecteur',
    install: 'Installer',
    keep: 'Conserver si le disque est plein',
    kept: 'Le navigateur conserve cette conversation jusqu’à ce que vous la supprimiez.',
    notKept: 'Le navigateur ne promet pas de la conserver : il peut la supprimer si le disque est plein.',
    update: 'Une nouvelle version est prête.',
    reload: 'Recharger',
    offlineReady: 'Prêt à fonctionner hors ligne.',
    dismiss: 'Fermer',
    signOut: 'Se déconnecter',
    signOutAsk: 'Se déconnecter de ce navigateur ?',
    goesHere:
      'Tout ce que ce navigateur conserve de vous est effacé : les conversations et ce qui est retenu. Ce qui n’est que sur cet appareil disparaît pour toujours.',
    goesThere: (date) =>
      `Vous êtes invité : le service efface aussi ce qu’il conserve de vous. S’il est injoignable maintenant, il le fera le ${date} ; d’ici là, personne ne pourra plus l’ouvrir.`,
    staysThere: 'Ce qui est chez le service y reste, et quiconque peut l’utiliser l’y trouve.',
    lost: 'Ceci serait perdu :',
    unsent: (count) => `Messages et modifications non envoyés : ${count}`,
    refused: (count) => `Messages et modifications refusés par le service : ${count}`,
    drafts: (count) => `Brouillons, texte ou fichiers : ${count}`,
    stay: 'Annuler',
    wait: 'Un instant…',
    notSignedOut: 'Tout n’a pas disparu de ce navigateur. Déconnectez-vous encore une fois.',
  },
  es: {
    firstText:
      'Un asistente cuya memoria nunca carga más allá de la línea: lo que lee su modelo sigue siendo pequeño por mucho que hable, y puede ver de dónde viene cada parte.',
    starterPlan: 'Planifica un fin de semana en Turín.',
    starterRemember: 'Recuerda que prefiero el asiento de ventanilla.',
    starterFind: '¿Qué sabes de mi asiento de ventanilla?',
    starterLine: 'Mostrar la línea en acción',
    inspector: 'Inspector',
    closeInspector: 'Cerrar el inspector',
    install: 'Instalar',
    keep: 'Guardar si el disco se llena',
    kept: 'El navegador guarda esta conversación hasta que la elimine.',
    notKept: 'El navegador no garantiza guardarla: puede eliminarla si el disco se llena.',
    update: 'Hay una versión nueva.',
    reload: 'Recargar',
    offlineReady: 'Listo para funcionar sin conexión.',
    dismiss: 'Cerrar',
    signOut: 'Cerrar sesión',
    signOutAsk: '¿Cerrar sesión en este navegador?',
    goesHere:
      'Se borra todo lo que este navegador guarda de usted: las conversaciones y lo que se recuerda. Lo que solo está en este dispositivo se pierde para siempre.',
    goesThere: (date) =>
      `Usted es invitado: el servicio también borra lo que guarda de usted. Si ahora no se puede contactar con él, lo hará el ${date}; hasta entonces nadie podrá volver a abrirlo.`,
    staysThere: 'Lo que está en el servicio se queda allí, y quien pueda usarlo lo encuentra.',
    lost: 'Se perdería esto:',
    unsent: (count) => `Mensajes y cambios sin enviar: ${count}`,
    refused: (count) => `Mensajes y cambios que el servicio rechazó: ${count}`,
    drafts: (count) => `Borradores, texto o archivos: ${count}`,
    stay: 'Cancelar',
    wait: 'Un momento…',
    notSignedOut: 'Aún no se ha borrado todo de este navegador. Cierre sesión otra vez.',
  },
  ar: {
    firstText:
      'مساعد لا تتجاوز ذاكرته الخط أبدًا: ما يقرؤه نموذجه يبقى صغيرًا مهما طال الحديث، ويمكنك أن ترى من أين يأتي كل جزء.',
    starterPlan: 'خطّط لعطلة نهاية أسبوع في تورينو.',
    starterRemember: 'تذكّر أن مقعدي المفضل بجانب النافذة.',
    starterFind: 'ماذا تعرف عن مقعدي بجانب النافذة؟',
    starterLine: 'أرني الخط أثناء العمل',
    inspector: 'المفتّش',
    closeInspector: 'إغلاق المفتّش',
    install: 'تثبيت',
    keep: 'الاحتفاظ بها عند امتلاء القرص',
    kept: 'يحتفظ المتصفح بهذه المحادثة إلى أن تحذفها.',
    notKept: 'لا يضمن المتصفح الاحتفاظ بها: قد يحذفها عند امتلاء القرص.',
    update: 'يتوفر إصدار جديد.',
    reload: 'إعادة التحميل',
    offlineReady: 'جاهز للعمل دون اتصال.',
    dismiss: 'إغلاق',
    signOut: 'تسجيل الخروج',
    signOutAsk: 'تسجيل الخروج من هذا المتصفح؟',
    goesHere:
      'يُمحى كل ما يحفظه هذا المتصفح عنك: المحادثات وما حُفظ في الذاكرة. وما كان على هذا الجهاز وحده يزول نهائيًا.',
    goesThere: (date) =>
      `أنت ضيف: تمحو الخدمة أيضًا ما تحفظه عنك. إن تعذر الوصول إليها الآن فستمحوه في ${date}، وإلى ذلك الحين لا يستطيع أحد فتحه من جديد.`,
    staysThere: 'ما هو لدى الخدمة يبقى هناك، ويجده من يحق له استخدامها.',
    lost: 'سيضيع ما يلي:',
    unsent: (count) => `رسائل وتغييرات لم تُرسل: ${count}`,
    refused: (count) => `رسائل وتغييرات رفضتها الخدمة: ${count}`,
    drafts: (count) => `مسودات من نصوص أو ملفات: ${count}`,
    stay: 'إلغاء',
    wait: 'لحظة من فضلك…',
    notSignedOut: 'لم يُمحَ كل شيء من هذا المتصفح بعد. سجّل الخروج مرة أخرى.',
  },
  ja: {
    firstText:
      '記憶がラインを超えて積まれることのないアシスタントです。どれだけ長く話しても、モデルが読む量は小さいままで、各部分がどこから来たかを見られます。',
    starterPlan: 'トリノで過ごす週末を計画して。',
    starterRemember: '覚えて：窓側の席が好きです。',
    starterFind: '窓側の席について何を覚えていますか？',
    starterLine: 'ラインの働きを見る',
    inspector: 'インスペクター',
    closeInspector: 'インスペクターを閉じる',
    install: 'インストール',
    keep: 'ディスクが一杯でも保存',
    kept: '削除するまで、ブラウザがこの会話を保存し続けます。',
    notKept: 'ブラウザは保存を約束しません。ディスクが一杯になると削除されることがあります。',
    update: '新しいバージョンがあります。',
    reload: '再読み込み',
    offlineReady: 'オフラインで使えます。',
    dismiss: '閉じる',
    signOut: 'サインアウト',
    signOutAsk: 'このブラウザからサインアウトしますか？',
    goesHere:
      'このブラウザが保存しているものは、会話も記憶もすべて消去されます。この端末だけにあるものは、二度と戻りません。',
    goesThere: (date) =>
      `ゲストとしてご利用中です。サービスが保管しているものも消去されます。今サービスにつながらないときは${date}に消去され、それまで誰もふたたび開くことはできません。`,
    staysThere: 'サービスにあるものはそこに残り、サービスを使える人なら見られます。',
    lost: '次のものが失われます。',
    unsent: (count) => `送られていないメッセージと変更：${count}`,
    refused: (count) => `サービスが受け付けなかったメッセージと変更：${count}`,
    drafts: (count) => `下書きの文章やファイル：${count}`,
    stay: 'キャンセル',
    wait: '少々お待ちください…',
    notSignedOut: 'このブラウザにまだ残っているものがあります。もう一度サインアウトしてください。',
  },
}

const RIGHT_TO_LEFT = new Set(['ar'])

/** The first language of these that there are words in, else English. */
export function wordsFor(languages: readonly string[]): {
  readonly language: string
  /** How its reader writes numbers: `de-CH` of `de`. */
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
  readonly words: Words
} {
  for (const tag of languages) {
    const [language = ''] = tag.toLowerCase().split('-')
    const words = catalogue[language]
    if (words) return { language, locale: tag, direction: RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr', words }
  }
  return { language: 'en', locale: 'en', direction: 'ltr', words: english }
}
