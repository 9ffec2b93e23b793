package law_test

// oldPackages are packages that were renamed, with their new names.
var oldPackages = map[string]string{
	"bench/floor":       "bench/baseline",
	"internal/fence":    "internal/recallblock",
	"internal/pick":     "internal/chooser",
	"internal/symptom":  "internal/errsig",
	"internal/textcall": "internal/texttool",
	"internal/wire":     "internal/transport/base",
}

// oldNames are declarations that were renamed, by package: Name, or Type.Member with the name
// that the type has today.
var oldNames = map[string]string{
	".": "Active.BySource AddOutside Approval ApprovalRequest.Reviews Balance.Held Call.Stage " +
		"Compacted.Fitted Compaction.Put Consent ConsentAbsent ConsentAlways ConsentDenied " +
		"ConsentOnce ConsentSession ConsentTimeout Decision.Granted Exchange Fitted Hold " +
		"Journal.HoldCall Learning.Outside Message.Outside OutcomeHalted OutsideOf OutsideSource " +
		"Part.Outside PendingCall.Asked PendingCall.Leave Placed Pressure Reasoning.Wire " +
		"Recalled.Outside Recollection.Outside Report.Outside Result.Halt Result.Outside " +
		"Result.Refund Review Reviewer Risk.Floor Risk.Fresh RiskAssessor.Review " +
		"SearchQuery.Sources Session.Outside Session.Source SessionChange.Outside " +
		"SessionFilter.Source SessionRef.Outside Skill.Outside SkillEdit.Outside SkillEdit.Stage " +
		"SkillOutcome.Staged SkillRemoval.Outside SkillRemoval.Stage Spec.Inside Spec.Lasts " +
		"Spec.Stages SpendQuery.Source Spending.Held Step.Hold StoreStats.BySource " +
		"SystemPrompt.Outside Used",
	"hermestest":             "Handoff.Wire ModelWire Store.HoldCall outsideStays storedMessage.place storedSession.told",
	"hermestest/faultserver": "Server.told exchange.wire wire wireOf",
	"internal/agent":         "BatchFinisher.Settle Settler errHalted haltText halted",
	"internal/app": "App.Standby App.around App.book App.box App.earlierTalk App.equip App.looksBack " +
		"App.makeBook App.makeOutside App.newKit App.outside App.outsideFor App.reviewBench " +
		"App.sumsUp dead errOutside kit maxAround recorded.book standby surroundings.tell " +
		"surroundings.teller toolKit.halt",
	"internal/auxiliary":    "Room attempt.room errNobody model.room",
	"internal/chooser":      "Choose",
	"internal/cmd":          "picker",
	"internal/cmd/auth":     "entryJSON.Place",
	"internal/cmd/chat":     "Options.source Options.talk",
	"internal/cmd/demo":     "leave",
	"internal/cmd/doctor":   "leastRoom",
	"internal/cmd/insights": "Options.Source report.Source report.Sources source",
	"internal/cmd/journey":  "Sources.Book",
	"internal/cmd/learning": "Book",
	"internal/cmd/memory":   "Deps.Book byPerson people person",
	"internal/cmd/model":    "Deps.Pick pick",
	"internal/cmd/sessions": "ExportOptions.Source ListOptions.Source PruneOptions.Source SearchOptions.Sources " +
		"StatsOptions.sources hiddenSources hitJSON.Source rowJSON.Source statsJSON.BySource",
	"internal/command":       "aside memoryRoom skillRoom tariff tariffOf waitingRoom",
	"internal/config":        "decoder.strangers place stranger",
	"internal/contextengine": "floorTokens roomMade work.fitted",
	"internal/credential":    "Entry.Dead Store.bury Store.owed Store.told record.dead record.fate shared.told statusDead",
	"internal/demo":          "Options.Leave aside mending",
	"internal/errsig":        "Symptom",
	"internal/fault":         "facts.told",
	"internal/home":          "ErrNoPlace",
	"internal/jsonrepair":    "Mended mender",
	"internal/learning":      "Book Config.Around Fate said.Outside",
	"internal/logfile":       "file.aside",
	"internal/memory": "Book Config.Around Config.NoPerson Config.PersonLimit File.People File.people File.stage " +
		"NewBook Origin.Outside Person defaultPerson place report.Staged secretPlace",
	"internal/oauth":        "ErrDead Login.Heard",
	"internal/patch":        "block.floor",
	"internal/policy":       "person",
	"internal/policy/shell": "Ground judge.ground",
	"internal/prompt":       "Input.Place Layer.Floor Place Prompt.Outside Section.Outside builder.told notes.outside",
	"internal/provider": "Catalogue.Standby Catalogue.buildAlone Catalogue.fallBack Catalogue.heard Catalogue.heed " +
		"Catalogue.lessons Catalogue.mend Catalogue.standby Catalogue.standing Catalogue.told " +
		"Row.Wire WireAnthropic WireBedrock WireChat WireGemini WireOllama WireResponses " +
		"examining.blame fallingBack heard heardLine heardText heeding lesson lessons maxHeard " +
		"maxHeardBytes maxHeardPlaces maxMends mending newStanding repairing.wire standing",
	"internal/redact":    "pair.alone",
	"internal/reference": "Expanded.Outside",
	"internal/replay":    "counted.halt",
	"internal/review": "Bench Book Config.Bench Config.Book Queue.LeaveReview Queue.OweReview Queue.OwesReview " +
		"Queue.TakeReview Room Runner.book Runner.makeUp Runner.mayOwe Runner.owes Runner.owing " +
		"Talk maxOwing told",
	"internal/schema": "mend mendChildren mendObject mendTypes mendUnions",
	"internal/session": "Around Aside BatchFinisher.Settle Config.Equip Equip Equipment Manager.after Manager.place " +
		"Open.Source Open.outside Reply.Consent Runtime.Around Runtime.Halt Session.beside " +
		"Session.equip Session.gear Session.heard Session.heldBy Session.hold Session.keep " +
		"Session.kept Session.lookAround Session.lookBack Session.looking Session.outside " +
		"Session.release Session.takeUp Session.titling Session.told Settler afterwards alone " +
		"aroundHead aroundTime beside closingJobs.leave closingJobs.left closingJobs.settle " +
		"errAlone held host.brings host.brought lookback mark memoryJobs.settle nobody place " +
		"sideTools.mark sideTools.place titling tools.Settle tools.box tools.mark " +
		"unattendedHost.place",
	"internal/skill": "Config.Around Curated.Fate Expanded.Outside Library.Book Library.place Library.stage " +
		"Pending.Outside Usage.Outside Usage.book",
	"internal/skill/hub": "Hub.places place plugin.place",
	"internal/spend":     "Config.Hold Governor.heard Governor.told",
	"internal/store/sqlite": "Config.Dead Config.dead Retention.Source Store.HoldCall Store.LeaveReview Store.OweReview " +
		"Store.OwesReview Store.TakeReview Store.bySource owed places record.outside takenBack " +
		"tx.book",
	"internal/tool/clarify":       "nobody",
	"internal/tool/file":          "Toolset.place Toolset.putBack place record.told reviewed riskAssessed.Review",
	"internal/tool/learning":      "brought lasts told",
	"internal/tool/sessionsearch": "beside found.Source listed.Source search.outside",
	"internal/tool/skills":        "Toolset.lasts done.Staged",
	"internal/tool/terminal": "Toolset.Halt Toolset.ground Toolset.reviewCommand Toolset.reviewInput job.told reviewed " +
		"reviews riskAssessed.Review riskAssessed.review",
	"internal/toolbox": "Box Guardrail.HaltTool Toolbox.Settle Toolbox.onion Toolbox.review Toolbox.source anyFresh " +
		"book stageable streaks.halt streaks.halted toolHalt",
	"internal/transport/anthropic": "wireName",
	"internal/transport/bedrock":   "wireName",
	"internal/transport/chat":      "wireName",
	"internal/transport/gemini":    "wireName",
	"internal/transport/ollama":    "wireName",
	"internal/transport/responses": "wireName",
	"internal/tui": "ask.consent ask.picked model.anew newTeller option.consent place rawPrinter.teller " +
		"renderer.personLines richPrinter.teller teller",
	"internal/undo":     "Journal.Around",
	"internal/yamledit": "place",
}
