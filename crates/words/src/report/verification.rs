//! Run files compared with their checksums.

crate::catalogue! {
    verified_whole(pages) = "whole: {pages} pages match their checksums" | "정상: 페이지 {pages}개의 체크섬이 일치합니다";
    verified_damaged(what, next) = "damaged: {what}; {next}" | "손상됨: {what}. {next}";
    verified_page(table, page) = "page {page} of the table {table}" | "{table} 테이블의 {page}번 페이지";
    verified_pages(count, table, first) =
        "{count} pages of the table {table}, from page {first}"
        | "{table} 테이블의 페이지 {count}개 ({first}번 페이지부터)";
    verified_free(count, first) =
        "pages without content from page {first}: {count}"
        | "내용이 없는 페이지 {count}개 ({first}번 페이지부터)";
    verified_header = "the header of the file" | "파일 헤더";
    verified_lost(what) = "unreadable: {what}" | "읽을 수 없음: {what}";
    verified_more(count) = "{count} more" | "외 {count}건";
    verified_restore(path) =
        "restore {path} from a copy; undamaged parts can still be shown and exported"
        | "{path} 파일을 사본으로 복원하세요. 손상되지 않은 부분은 계속 조회하고 내보낼 수 있습니다";
    verified_restore_all(path) =
        "nothing in the file can be read; restore {path} from a copy"
        | "파일을 전혀 읽을 수 없습니다. {path} 파일을 사본으로 복원하세요";
    verified_harmless =
        "no number of the run is affected; copy the file to another disk"
        | "실행의 수치에는 영향이 없습니다. 파일을 다른 디스크로 복사하세요";
    verified_old(format) =
        "without checksums: format {format} has none; everything in the file can be read"
        | "체크섬 없음: 형식 {format}에는 체크섬이 없습니다. 파일의 내용은 모두 읽을 수 있습니다";
    verified_live =
        "in progress: checksums are added at the end of the run; everything so far can be read"
        | "실행 중: 체크섬은 실행이 끝날 때 추가됩니다. 지금까지의 내용은 모두 읽을 수 있습니다";
    verified_partial =
        "incomplete: the process ended before it added checksums; every stored second can be read"
        | "불완전: 체크섬을 추가하기 전에 프로세스가 종료되었습니다. 저장된 내용은 모두 읽을 수 있습니다";
    verified_unsealed =
        "without checksums: another program changed the file after the run, or the disk was full; everything in it can be read"
        | "체크섬 없음: 실행이 끝난 뒤 다른 프로그램이 파일을 변경했거나 디스크가 가득 찼습니다. 파일의 내용은 모두 읽을 수 있습니다";
    not_verified(why) = "not verified: {why}" | "확인하지 못함: {why}";
    verified_total(runs, whole, damaged, unsealed, failed) =
        "{runs} files: {whole} whole, {damaged} damaged, {unsealed} without checksums, {failed} not verified"
        | "파일 {runs}개: 정상 {whole}개, 손상 {damaged}개, 체크섬 없음 {unsealed}개, 확인 실패 {failed}개";
    verified_none(place) = "No runs in {place}" | "{place}에 실행이 없습니다";
}
